"""Features that learn in turn, src/unbraid/methods/turns.py."""

import pytest
import torch

from unbraid.methods.turns import Turns
from unbraid.schedules import Linear, Schedule


def flags(features: torch.Tensor) -> list[int]:
    """Which of them, as ones and zeros."""
    return features[0].int().tolist()


@pytest.mark.parametrize(
    ("step", "free", "settled"),
    [(0, [1, 1, 0, 0], [0, 0, 0, 0]), (5, [1, 1, 1, 0], [1, 1, 0, 0]), (99, [1, 1, 1, 1], [1, 1, 1, 0])],
)
def test_those_before_the_newest_have_settled(step: int, free: list[int], settled: list[int]) -> None:
    """Two learn together at first; a schedule may go beyond what there is."""
    turns, at = Turns(4, 1, Linear(2.0, 9.0, 30), settle=True), torch.tensor(step)
    assert flags(turns.free_features(at)) == free
    assert flags(turns.settled_features(at)) == settled
    assert flags(turns._replace(settle=False).settled_features(at)) == [0, 0, 0, 0]


def test_one_feature_may_always_carry_something() -> None:
    assert flags(Turns(3, 1, Linear(0.0, 3.0, 10), settle=False).free_features(torch.tensor(0))) == [1, 0, 0]


@pytest.mark.parametrize("settle", [True, False])
def test_what_is_held_is_zero_and_what_has_settled_learns_nothing(settle: bool) -> None:
    codes = torch.ones(5, 6, requires_grad=True)
    held = Turns(3, 2, Linear(1.0, 3.0, 10), settle).held(codes, torch.tensor(5))
    assert flags(held) == [1, 1, 1, 1, 0, 0]
    held.sum().backward()
    assert codes.grad is not None and flags(codes.grad) == (
        [0, 0, 1, 1, 0, 0] if settle else [1, 1, 1, 1, 0, 0]
    )


@pytest.mark.parametrize("free", [None, Linear(3.0, 3.0, 1)])
def test_where_all_are_free_codes_are_what_they_were(free: Schedule | None) -> None:
    turns, codes = Turns(3, 2, free, settle=False), torch.rand(5, 6)
    assert flags(turns.free_features(torch.tensor(0))) == [1, 1, 1]
    assert torch.equal(turns.held(codes, torch.tensor(0)), codes)
    assert flags(turns.codes_of(torch.tensor([[True, False, True]]))) == [1, 1, 0, 0, 1, 1]
