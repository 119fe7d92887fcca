"""The cheapest match, src/unbraid/objectives/assignment.py."""

from itertools import permutations

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.objectives.assignment import assignment


def cost_of(cost: torch.Tensor, match: torch.Tensor) -> torch.Tensor:
    return cost[torch.arange(len(cost)), match].sum()


def test_it_is_the_cheapest_of_all_matches() -> None:
    for _ in range(5):
        cost = torch.randn(6, 6, dtype=torch.float64)
        cheapest = min(cost_of(cost, torch.tensor(order)).item() for order in permutations(range(6)))
        match = assignment(cost)
        assert sorted(match.tolist()) == list(range(6)) and match.dtype == torch.long
        assert_close(cost_of(cost, match).item(), cheapest)


def test_it_is_the_plan_of_pot() -> None:
    ot = pytest.importorskip("ot", reason="POT is not installed: pip install 'unbraid[transport]'")
    cost = torch.randn(64, 64, dtype=torch.float64).square()
    plan = ot.emd(np.full(64, 1 / 64), np.full(64, 1 / 64), cost.numpy())
    assert_close(torch.nn.functional.one_hot(assignment(cost)).double() / 64, torch.from_numpy(plan))


def test_no_gradient_passes() -> None:
    cost = torch.randn(4, 4, requires_grad=True)
    assert not assignment(cost).requires_grad


def test_a_cost_that_is_no_number_gives_a_match_all_the_same() -> None:
    """What is not finite is told by the loop, which names the step and the term."""
    cost = torch.full((3, 3), float("nan"))
    assert sorted(assignment(cost).tolist()) == [0, 1, 2]


def test_many_problems_at_once_under_vmap() -> None:
    costs = torch.randn(3, 8, 8)
    together = torch.func.vmap(assignment)(costs)
    assert_close(together, torch.stack([assignment(cost) for cost in costs]))
    behind = torch.func.vmap(assignment, in_dims=2)(costs.movedim(0, 2))
    assert_close(behind, together)


def test_it_has_a_shape_before_it_has_a_value() -> None:
    """For compilers, which trace without numbers."""
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        match = assignment(torch.empty(5, 5))
        assert match.shape == (5,) and match.dtype == torch.long
