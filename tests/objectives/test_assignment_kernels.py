"""The kernels of the assignment, src/unbraid/objectives/assignment_kernels.py: on a CUDA device, or by Triton's
interpreter in a process of its own where TRITON_INTERPRET=1 is set before Triton is imported."""

import os

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment
from torch.testing import assert_close

pytest.importorskip("triton", reason="Triton is not installed; it comes with CUDA builds of torch")
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if not INTERPRETED and not torch.cuda.is_available():
    pytest.skip("needs a CUDA device, or TRITON_INTERPRET=1", allow_module_level=True)

from unbraid.objectives.assignment_kernels import solve  # noqa: E402

DEVICE = "cpu" if INTERPRETED else "cuda"


def check(costs: torch.Tensor) -> None:
    """Each problem's match is a match, and as cheap as SciPy's."""
    matches = solve(costs.to(DEVICE)).cpu()
    rows = np.arange(costs.shape[1])
    for cost, match in zip(costs.double().numpy(), matches.numpy(), strict=True):
        assert sorted(match) == list(rows)
        assert_close(cost[rows, match].sum(), cost[linear_sum_assignment(cost)].sum(), rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 16, 33, 128])
@pytest.mark.parametrize("d", [2, 16])
def test_codes_are_matched_as_cheaply_as_can_be(n: int, d: int) -> None:
    a, b = torch.randn(2, 3, n, d)
    check((a[:, :, None] - b[:, None]).square().sum(3))


def test_more_codes_than_fit_at_once() -> None:
    a, b = torch.randn(2, 1, 300, 8)
    check((a[:, :, None] - b[:, None]).square().sum(3))


def test_ties_and_costs_below_zero() -> None:
    check(torch.zeros(1, 8, 8))
    check(torch.randint(-2, 3, (4, 20, 20)).float())


def test_far_apart_and_of_very_different_spread() -> None:
    a, b = torch.randn(2, 4, 64, 4)
    check((1e3 * a[:, :, None] - 1e-3 * b[:, None] + 50).square().sum(3))


def test_nothing_hangs_where_a_cost_is_no_number() -> None:
    for bad in (float("nan"), float("inf"), -float("inf")):
        costs = torch.rand(2, 16, 16)
        costs[0, 3], costs[1] = bad, bad
        assert all(sorted(match) == list(range(16)) for match in solve(costs.to(DEVICE)).tolist())


@pytest.mark.skipif(INTERPRETED, reason="needs a CUDA device")
def test_it_can_be_recorded_in_a_graph() -> None:
    costs = torch.rand(1, 128, 128, device="cuda")
    solve(costs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        match = solve(costs)
    fresh = torch.rand(1, 128, 128)
    costs.copy_(fresh)
    graph.replay()
    rows, cost = np.arange(128), fresh[0].double().numpy()
    assert_close(cost[rows, match[0].cpu().numpy()].sum(), cost[linear_sum_assignment(cost)].sum())
