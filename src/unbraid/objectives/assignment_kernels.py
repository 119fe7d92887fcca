"""The assignment problem on a CUDA device: exact shortest augmenting paths from a good start, in Triton.

Prices v of the columns and a match are optimal together when every matched pair (i, j) has the least c_ij - v_j of its
row. A few rounds of Sinkhorn at falling temperature give prices close to that, and rows that want different columns
are matched at once. For each row that is left, Dijkstra's algorithm finds the cheapest chain of re-matchings and moves
the prices so that the condition stays true (Jonker & Volgenant, 1987). Whatever the start, the end is the optimum; the
start only decides how many steps the second part takes, some 100 instead of 800 for 128 codes.

One program solves one problem. Sums are in double precision where they decide who is matched.
"""

# pyright: reportMissingImports=false, reportIndexIssue=false

from typing import no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor

ROUNDS = 16  # of Sinkhorn
WARM, COLD = 0.1, 0.002  # temperatures of the first and the last round, as shares of the mean cost
MOST = 1e18  # larger costs are cut, so that sums of them stay finite
TILE = 8192  # costs that a program holds at once in the first part


def solve(costs: Tensor) -> Tensor:
    """The column matched to each row, for a stack of problems (p, n, n)."""
    problems, n, _ = costs.shape
    # Without a number to go by, the search for the nearest column would never end, and a device would hang.
    costs = costs.nan_to_num(0.0, MOST, -MOST).clamp(-MOST, MOST).contiguous()
    width = max(triton.next_power_of_2(n), 16)
    prices = torch.empty(problems, n, dtype=torch.float32, device=costs.device)
    row_of, column_of = (torch.empty(problems, n, dtype=torch.int32, device=costs.device) for _ in range(2))
    found = torch.empty(problems, n, dtype=torch.long, device=costs.device)
    rows = min(width, max(TILE // width, 1))
    cooling = (COLD / WARM) ** (1 / (ROUNDS - 1))
    _begin[(problems,)](costs, prices, row_of, column_of, n, WARM, cooling, ROUNDS, width, rows, num_warps=8)
    # A single warp: its reductions need no shared memory, and reductions are all that this part does.
    _augment[(problems,)](costs, prices, row_of, column_of, found, n, width, num_warps=1)
    return found


@triton.jit
@no_type_check
def _begin(
    costs,
    prices,
    row_of,
    column_of,
    n,
    warm,
    cooling,
    ROUNDS: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Prices of the columns, and the first match: each column takes the first of the rows that want it most."""
    problem = tl.program_id(0).to(tl.int64)
    costs += problem * n * n
    columns = tl.arange(0, WIDTH)
    real = columns < n
    total = 0.0
    for first in range(0, n, ROWS):
        rows = first + tl.arange(0, ROWS)
        inside = (rows < n)[:, None] & real[None, :]
        cost = tl.load(costs + rows[:, None] * n + columns, mask=inside, other=0.0).to(tl.float32)
        total += tl.sum(tl.sum(tl.abs(cost), 1), 0)
    temperature = warm * tl.maximum(total / n / n, 1e-20)
    v = tl.zeros([WIDTH], tl.float32)
    for _ in range(ROUNDS):
        most = tl.full(
            [WIDTH], float("-inf"), tl.float32
        )  # of each column; a logarithm of a sum, tile by tile
        mass = tl.zeros([WIDTH], tl.float32)
        for first in range(0, n, ROWS):
            rows = first + tl.arange(0, ROWS)
            inside = (rows < n)[:, None] & real[None, :]
            cost = tl.load(costs + rows[:, None] * n + columns, mask=inside, other=0.0).to(tl.float32)
            wish = tl.where(inside, (v[None, :] - cost) / temperature, -1e30)
            top = tl.max(wish, 1)
            u = -(top + tl.log(tl.sum(tl.exp(wish - top[:, None]), 1)))  # in units of the temperature
            offer = tl.where(inside, u[:, None] - cost / temperature, -1e30)
            higher = tl.maximum(most, tl.max(offer, 0))
            mass = mass * tl.exp(most - higher) + tl.sum(tl.exp(offer - higher[None, :]), 0)
            most = higher
        v = -temperature * (most + tl.log(mass))
        temperature = temperature * cooling
    v = tl.where(real & (v == v), v, 0.0)
    tl.store(prices + problem * n + columns, v, mask=real)

    owner = tl.full([WIDTH], WIDTH, tl.int32)  # of each column, WIDTH for none
    for first in range(0, n, ROWS):
        rows = first + tl.arange(0, ROWS)
        inside = (rows < n)[:, None] & real[None, :]
        cost = tl.load(costs + rows[:, None] * n + columns, mask=inside, other=float("inf")).to(tl.float64)
        wanted = tl.argmin(cost - v[None, :].to(tl.float64), 1)
        wants = (wanted[:, None] == columns[None, :]) & inside
        owner = tl.minimum(owner, tl.min(tl.where(wants, rows[:, None], WIDTH), 0))
    tl.store(row_of + problem * n + columns, tl.where(owner < WIDTH, owner, -1), mask=real)
    for first in range(0, n, ROWS):
        rows = first + tl.arange(0, ROWS)
        owned = tl.sum(tl.where(owner[None, :] == rows[:, None], columns[None, :] + 1, 0), 1) - 1
        tl.store(column_of + problem * n + rows, owned.to(tl.int32), mask=rows < n)


@triton.jit
@no_type_check
def _augment(costs, prices, row_of, column_of, found, n, WIDTH: tl.constexpr):
    """Matches the rows that are left, each along the cheapest chain of re-matchings."""
    problem = tl.program_id(0).to(tl.int64)
    costs += problem * n * n
    columns = tl.arange(0, WIDTH)  # and rows
    real = columns < n
    v = tl.load(prices + problem * n + columns, mask=real, other=0.0).to(tl.float64)
    owner = tl.load(row_of + problem * n + columns, mask=real, other=-1)
    owned = tl.load(column_of + problem * n + columns, mask=real, other=0)
    left = tl.sum((owned < 0).to(tl.int32), 0)
    while left > 0:
        start = tl.min(tl.where(owned < 0, columns, WIDTH), 0)
        cost = tl.load(costs + start * n + columns, mask=real, other=float("inf"))
        distance = cost.to(tl.float64) - v
        reached_from = tl.zeros([WIDTH], tl.int32) + start
        settled = tl.zeros([WIDTH], tl.int32)
        least, nearest = tl.min(distance, 0, return_indices=True)
        row = tl.sum(tl.where(columns == nearest, owner, 0), 0)
        while row >= 0:  # the nearest column has an owner: go on from there
            settled = tl.where(columns == nearest, 1, settled)
            cost = tl.load(costs + row * n + columns, mask=real, other=float("inf"))
            slack = cost.to(tl.float64) - v
            slack += least - tl.sum(tl.where(columns == nearest, slack, 0.0), 0)
            closer = (slack < distance) & (settled == 0)
            distance = tl.where(closer, slack, distance)
            reached_from = tl.where(closer, row, reached_from)
            least, nearest = tl.min(tl.where(settled == 0, distance, float("inf")), 0, return_indices=True)
            row = tl.sum(tl.where(columns == nearest, owner, 0), 0)
        v = tl.where(settled == 1, v + distance - least, v)
        row = start - 1
        while row != start:  # back along the chain: each row takes the column that it was reached by
            row = tl.sum(tl.where(columns == nearest, reached_from, 0), 0)
            given_up = tl.sum(tl.where(columns == row, owned, 0), 0)
            owner = tl.where(columns == nearest, row, owner)
            owned = tl.where(columns == row, nearest, owned)
            nearest = given_up
        left -= 1
    tl.store(found + problem * n + columns, owned.to(tl.int64), mask=real)
