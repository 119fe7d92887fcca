"""Checkpoints, src/unbraid/training/checkpoint.py; a killed and resumed run is tested in test_train.py."""

from pathlib import Path

import pytest
import torch
from torch import Generator
from torch.testing import assert_close

from tests.tiny import batch_for, make
from unbraid.methods import FactorVAE
from unbraid.training.checkpoint import TrainState, load_checkpoint, save_checkpoint
from unbraid.training.step import TrainingStep


def trained(steps: int) -> TrainingStep:
    training_step = TrainingStep(make(FactorVAE))
    batch = batch_for(FactorVAE)
    for step in range(steps):
        training_step.run(lambda: batch, step)
    return training_step


def test_everything_is_restored(tmp_path: Path) -> None:
    """Weights, optimizers, progress, and what both generators draw next."""
    path, before, data = tmp_path / "checkpoint.safetensors", trained(3), Generator().manual_seed(7)
    save_checkpoint(path, TrainState(3, 0.5, 2), before, data)
    noise, order = torch.rand(4), torch.rand(4, generator=data)
    torch.manual_seed(1)
    after, fresh = TrainingStep(make(FactorVAE, seed=1)), Generator().manual_seed(8)
    assert load_checkpoint(path, after, fresh) == TrainState(3, 0.5, 2)
    assert_close(after.state(), before.state(), rtol=0, atol=0)
    assert_close(torch.rand(4), noise, rtol=0, atol=0)
    assert_close(torch.rand(4, generator=fresh), order, rtol=0, atol=0)


def test_a_new_training_has_no_best_loss_yet(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, TrainState(), trained(0), Generator())
    assert load_checkpoint(path, trained(0), Generator()) == TrainState(0, float("inf"), 0)


def test_a_folder_that_cannot_be_written_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="continue with --resume"):
        save_checkpoint(tmp_path / "gone" / "checkpoint.safetensors", TrainState(), trained(0), Generator())
