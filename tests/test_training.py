"""Training settings, src/unbraid/training.py."""

from typing import Any

import pytest
import torch

from unbraid.data import Dataset
from unbraid.training import Training


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "Give steps or epochs"),
        ({"steps": 1, "epochs": 1.0}, "Give steps or epochs"),
        ({"steps": 1, "batch": 1}, "batch must be at least 2; got 1"),
        ({"steps": 1, "validation": 1.0}, "validation fraction"),
        ({"steps": 1, "patience": 3}, "needs a validation fraction"),
        ({"epochs": float("inf")}, "Give steps or epochs"),
        ({"steps": 1, "clip": float("nan")}, "clip must be at least 0; got nan"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Training(**settings)


def test_epochs_are_as_many_images_as_the_dataset_has() -> None:
    data = Dataset(torch.zeros(60, 1, 3, 3), name="sixty", white=1)
    assert Training(epochs=2.0, batch=8).for_data(data) == Training(steps=15, batch=8)
    assert Training(steps=3).for_data(data) == Training(steps=3)
