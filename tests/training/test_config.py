"""Training settings, src/unbraid/training/config.py."""

from typing import Any

import pytest
import torch

from unbraid.data import Dataset
from unbraid.training.config import LoopConfig, TrainConfig, split_options


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "either --steps or --epochs"),
        ({"steps": 1, "epochs": 1.0}, "either --steps or --epochs"),
        ({"steps": 1, "batch_size": 1}, "batch_size must be at least 2; got 1"),
        ({"steps": 1, "val_fraction": 1.0}, "val_fraction must be at least 0 and below 1"),
        ({"steps": 1, "patience": 3}, "--patience requires --val-fraction"),
        ({"epochs": float("inf")}, "either --steps or --epochs"),
        ({"steps": 1, "lr": -1.0}, "lr must be a finite number of at least 0"),
        ({"steps": 1, "weight_decay": float("inf")}, "weight_decay must be a finite number"),
        ({"steps": 1, "grad_clip": float("nan")}, "grad_clip must be at least 0; got nan"),
        (
            {"steps": 9, "keep_weights": (3, 9)},
            "--keep-weights must be above 0 and below .*; got 9 of 9 steps",
        ),
        ({"epochs": 2.0, "keep_weights": (0,)}, "--keep-weights must be above 0 and below .*; got 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        TrainConfig(**settings)


def test_epochs_are_multiples_of_the_dataset_size() -> None:
    data = Dataset(torch.zeros(60, 1, 3, 3), name="sixty", max_value=1)
    assert TrainConfig(epochs=2.0, batch_size=8).resolve_steps(data) == TrainConfig(steps=15, batch_size=8)
    assert TrainConfig(steps=3).resolve_steps(data) == TrainConfig(steps=3)
    with pytest.raises(
        ValueError, match="below the last step, whose weights always stay; got 15 of 15 steps"
    ):
        TrainConfig(epochs=2.0, batch_size=8, keep_weights=(5, 15)).resolve_steps(data)


def test_options_go_to_the_configuration_that_has_them() -> None:
    config, loop = split_options({"steps": 3, "quiet": True, "batch_size": 8, "log_every": 1})
    assert config == TrainConfig(steps=3, batch_size=8)
    assert loop == LoopConfig(quiet=True, log_every=1)
    with pytest.raises(TypeError, match="nonsense"):
        split_options({"steps": 3, "nonsense": 1})


def test_history_has_a_line_every_step_at_least() -> None:
    with pytest.raises(ValueError, match="log_every must be at least 1 step; got 0"):
        LoopConfig(log_every=0)
