"""Checkpoints: everything an exact resume needs, in one safetensors file that is written whole or not at all."""

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Generator, nn

from unbraid.files import read_tensors, write_tensors
from unbraid.training.step import REMEDY, TrainingStep

FILE_NAME = "checkpoint.safetensors"


@dataclass
class TrainState:
    """How far a training is: steps done, best validation loss, validations since."""

    step: int = 0
    best: float = math.inf
    since_best: int = 0


def save_checkpoint(path: Path, state: TrainState, training_step: TrainingStep, data: Generator) -> None:
    """Writes weights, optimizers, progress and the states of all generators."""
    device = training_step.method.step.device
    tensors = training_step.state() | {
        "generator.data": data.get_state(),
        "generator.noise": torch.get_rng_state(),
        "step": torch.tensor(state.step),
        "since_best": torch.tensor(state.since_best),
        "best": torch.tensor(state.best, dtype=torch.float64),
    }
    if device.type == "cuda":
        tensors["generator.noise.cuda"] = torch.cuda.get_rng_state(device)
    try:
        write_tensors(path, tensors)
    except OSError as error:
        raise OSError(f"{error} Then continue with --resume.") from error


def load_checkpoint(path: Path, training_step: TrainingStep, data: Generator) -> TrainState:
    """Restores what `save_checkpoint` wrote."""
    device = training_step.method.step.device
    tensors = read_tensors(path)
    training_step.restore(tensors)
    data.set_state(tensors["generator.data"])
    torch.set_rng_state(tensors["generator.noise"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(tensors["generator.noise.cuda"], device)
    return TrainState(int(tensors["step"]), float(tensors["best"]), int(tensors["since_best"]))


def check_weights_finite(method: nn.Module, step: int, folder: Path) -> None:
    """Raises if a weight is NaN or infinite, so that such weights are never saved."""
    nonfinite = [name for name, value in method.state_dict().items() if not bool(torch.isfinite(value).all())]
    if nonfinite:
        raise FloatingPointError(
            f"Training stopped: the weight {nonfinite[0]} became NaN or infinite at step {step}. {REMEDY} The files in "
            f"{folder} are from an earlier step."
        )
