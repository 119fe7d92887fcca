"""Features that are trained one after the other, src/unbraid/methods/sequential.py."""

import pytest
import torch

from unbraid.methods.sequential import SequentialFeatures
from unbraid.schedules import Linear, Schedule


def flags(features: torch.Tensor) -> list[int]:
    """The first row as ones and zeros."""
    return features[0].int().tolist()


@pytest.mark.parametrize(
    ("step", "active", "frozen"),
    [(0, [1, 1, 0, 0], [0, 0, 0, 0]), (5, [1, 1, 1, 0], [1, 1, 0, 0]), (99, [1, 1, 1, 1], [1, 1, 1, 0])],
)
def test_features_before_the_newest_are_frozen(step: int, active: list[int], frozen: list[int]) -> None:
    """Two features are active at first; the schedule may exceed the number of features."""
    features, at = SequentialFeatures(4, 1, Linear(2.0, 9.0, 30), freeze_learned=True), torch.tensor(step)
    assert flags(features.active(at)) == active
    assert flags(features.frozen(at)) == frozen
    assert flags(features._replace(freeze_learned=False).frozen(at)) == [0, 0, 0, 0]


def test_at_least_one_feature_is_active() -> None:
    assert flags(
        SequentialFeatures(3, 1, Linear(0.0, 3.0, 10), freeze_learned=False).active(torch.tensor(0))
    ) == [1, 0, 0]


@pytest.mark.parametrize("freeze_learned", [True, False])
def test_inactive_features_are_zero_and_frozen_ones_get_no_gradient(freeze_learned: bool) -> None:
    codes = torch.ones(5, 6, requires_grad=True)
    masked = SequentialFeatures(3, 2, Linear(1.0, 3.0, 10), freeze_learned).mask_inactive(
        codes, torch.tensor(5)
    )
    assert flags(masked) == [1, 1, 1, 1, 0, 0]
    masked.sum().backward()
    assert codes.grad is not None and flags(codes.grad) == (
        [0, 0, 1, 1, 0, 0] if freeze_learned else [1, 1, 1, 1, 0, 0]
    )


@pytest.mark.parametrize("schedule", [None, Linear(3.0, 3.0, 1)])
def test_codes_are_unchanged_if_all_features_are_active(schedule: Schedule | None) -> None:
    features, codes = SequentialFeatures(3, 2, schedule, freeze_learned=False), torch.rand(5, 6)
    assert flags(features.active(torch.tensor(0))) == [1, 1, 1]
    assert torch.equal(features.mask_inactive(codes, torch.tensor(0)), codes)
    assert flags(features.dims_of(torch.tensor([[True, False, True]]))) == [1, 1, 0, 0, 1, 1]
