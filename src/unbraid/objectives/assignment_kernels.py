"""The assignment problem on a CUDA device: exact shortest augmenting paths from a good start, in Triton.

Column prices v and an assignment are optimal when every assigned pair (i, j) has the smallest c_ij - v_j of its row.
A few Sinkhorn iterations at decreasing temperature give prices close to the optimum, and rows with different best
columns are assigned at once. For each remaining row, Dijkstra's algorithm finds the cheapest augmenting path and
updates the prices so that the condition still holds (Jonker & Volgenant, 1987). The result is optimal for any initial
prices; good ones reduce the steps of the second kernel, from some 800 to 100 for 128 codes.

One program solves one problem. Sums that decide the assignment are in double precision.
"""

# pyright: reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false

from typing import no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor

ROUNDS = 16  # Sinkhorn iterations
WARM, COLD = 0.1, 0.002  # temperatures of the first and last iteration, as fractions of the mean cost
MAX_COST = 1e18  # costs are clamped, so that their sums are finite
TILE = 8192  # number of costs that a program of the first kernel loads at once


def solve(costs: Tensor) -> Tensor:
    """The column assigned to each row, for a stack of problems (p, n, n)."""
    problems, n, _ = costs.shape
    # With NaN, the search for the nearest column would not end, and the device would hang.
    costs = costs.nan_to_num(0.0, MAX_COST, -MAX_COST).clamp(-MAX_COST, MAX_COST).contiguous()
    width = max(triton.next_power_of_2(n), 16)
    prices = torch.empty(problems, n, dtype=torch.float32, device=costs.device)
    row_of, column_of = (torch.empty(problems, n, dtype=torch.int32, device=costs.device) for _ in range(2))
    assigned = torch.empty(problems, n, dtype=torch.long, device=costs.device)
    rows = min(width, max(TILE // width, 1))
    cooling = (COLD / WARM) ** (1 / (ROUNDS - 1))
    _begin[(problems,)](costs, prices, row_of, column_of, n, WARM, cooling, ROUNDS, width, rows, num_warps=8)
    # A single warp: its reductions need no shared memory, and this kernel consists of reductions.
    _augment[(problems,)](costs, prices, row_of, column_of, assigned, n, width, num_warps=1)
    return assigned


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
    """Column prices and the initial assignment: each column takes the first row whose best column it is."""
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
        largest = tl.full(
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
            higher = tl.maximum(largest, tl.max(offer, 0))
            mass = mass * tl.exp(largest - higher) + tl.sum(tl.exp(offer - higher[None, :]), 0)
            largest = higher
        v = -temperature * (largest + tl.log(mass))
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
def _augment(costs, prices, row_of, column_of, assigned, n, WIDTH: tl.constexpr):
    """Assigns the remaining rows, each along the cheapest augmenting path."""
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
        visited = tl.zeros([WIDTH], tl.int32)
        smallest, nearest = tl.min(distance, 0, return_indices=True)
        row = tl.sum(tl.where(columns == nearest, owner, 0), 0)
        while row >= 0:  # the nearest column has an owner: continue from that row
            visited = tl.where(columns == nearest, 1, visited)
            cost = tl.load(costs + row * n + columns, mask=real, other=float("inf"))
            slack = cost.to(tl.float64) - v
            slack += smallest - tl.sum(tl.where(columns == nearest, slack, 0.0), 0)
            closer = (slack < distance) & (visited == 0)
            distance = tl.where(closer, slack, distance)
            reached_from = tl.where(closer, row, reached_from)
            smallest, nearest = tl.min(tl.where(visited == 0, distance, float("inf")), 0, return_indices=True)
            row = tl.sum(tl.where(columns == nearest, owner, 0), 0)
        v = tl.where(visited == 1, v + distance - smallest, v)
        row = start - 1
        while row != start:  # back along the path: each row takes the column that it was reached from
            row = tl.sum(tl.where(columns == nearest, reached_from, 0), 0)
            given_up = tl.sum(tl.where(columns == row, owned, 0), 0)
            owner = tl.where(columns == nearest, row, owner)
            owned = tl.where(columns == row, nearest, owned)
            nearest = given_up
        left -= 1
    tl.store(assigned + problem * n + columns, owned.to(tl.int64), mask=real)
