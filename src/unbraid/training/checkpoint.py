"""Checkpoints: everything an exact resume needs, in one safetensors file that is written whole or not at all; and the
history, which grows between them."""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor, nn

from unbraid.files import append_line, read_tensors, sync_file, write_atomically, write_tensors
from unbraid.runs import Run
from unbraid.training.step import REMEDY, TrainingStep

FILE_NAME = "checkpoint.safetensors"
RESTORE = "Restore the file from a copy, or train in a new folder."


@dataclass
class TrainState:
    """How far a training is: steps done, best validation loss, validations since.

    `threads` holds pairs of a step and the number of threads from there on.
    """

    step: int = 0
    best: float = math.inf
    since_best: int = 0
    threads: list[list[int]] = field(default_factory=lambda: [[0, torch.get_num_threads()]])

    def change_threads(self, number: int) -> int | None:
        """Notes the number of threads of the next steps; returns the last one if it was another."""
        last = self.threads[-1][1]
        if last == number:
            return None
        self.threads = [pair for pair in self.threads if pair[0] < self.step] + [[self.step, number]]
        return last

    def threads_by_step(self) -> str:
        """The numbers of threads in words: `2`, or `2, 1 from step 500`."""
        return ", ".join(
            f"{number} from step {step}" if step else f"{number}" for step, number in self.threads
        )


def save_checkpoint(path: Path, state: TrainState, training_step: TrainingStep, data: Generator) -> None:
    """Writes weights, optimizers, progress and the states of all generators."""
    counters = {
        "step": torch.tensor(state.step),
        "since_best": torch.tensor(state.since_best),
        "best": torch.tensor(state.best, dtype=torch.float64),
        "threads": torch.tensor(state.threads),
    }
    tensors = training_step.state() | _generator_states(training_step, data) | counters
    try:
        write_tensors(path, tensors)
    except OSError as error:
        raise OSError(f"{error} Then continue with --resume.") from error


def load_checkpoint(path: Path, training_step: TrainingStep, data: Generator, *, steps: int) -> TrainState:
    """Restores what `save_checkpoint` wrote; raises before anything is changed if the file does not fit.

    Args:
        path: The file.
        training_step: The step whose weights and optimizers are restored.
        data: The generator of the draws, which is restored together with torch's default generator.
        steps: The last step of the training.
    """
    device = training_step.method.step.device
    tensors = read_tensors(path)
    if "generator.noise" in tensors and ("generator.noise.cuda" in tensors) != (device.type == "cuda"):
        written = "cuda" if "generator.noise.cuda" in tensors else "cpu"
        raise ValueError(
            f"{path} was written on {written}, and cannot continue on {device.type}. Pass --device."
        )
    expected = _expected(training_step, data)
    if (pairs := tensors.get("threads")) is not None and pairs.dim() == 2:
        expected["threads"] = expected["threads"].expand(max(1, len(pairs)), 2)
    _check_entries(path, tensors, expected, training_step.fresh_optimizer_state())
    state = _progress(path, tensors, steps)
    _check_generators(path, tensors, device)
    training_step.restore(tensors)
    data.set_state(tensors["generator.data"])
    torch.set_rng_state(tensors["generator.noise"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(tensors["generator.noise.cuda"], device)
    return state


def _generator_states(training_step: TrainingStep, data: Generator) -> dict[str, Tensor]:
    device = training_step.method.step.device
    states = {"generator.data": data.get_state(), "generator.noise": torch.get_rng_state()}
    if device.type == "cuda":
        states["generator.noise.cuda"] = torch.cuda.get_rng_state(device)
    return states


def _expected(training_step: TrainingStep, data: Generator) -> dict[str, Tensor]:
    """Tensors with the name, shape and type of each entry that is always there."""
    weights = {f"model.{name}": tensor for name, tensor in training_step.method.state_dict().items()}
    counters = {
        "step": torch.tensor(0),
        "since_best": torch.tensor(0),
        "best": torch.zeros((), dtype=torch.float64),
    }
    threads = {"threads": torch.zeros(1, 2, dtype=torch.long)}
    return weights | _generator_states(training_step, data) | counters | threads


def _check_entries(
    path: Path,
    tensors: Mapping[str, Tensor],
    expected: dict[str, Tensor],
    optimizers: Mapping[str, Mapping[str, Tensor]],
) -> None:
    """Raises unless names, shapes and types are those of this training.

    A parameter without an update has no optimizer state; one that has been updated has all entries of its optimizer.
    """
    for prefix, entries in optimizers.items():
        if any(name.startswith(f"{prefix}.") for name in tensors):
            expected |= {f"{prefix}.{key}": tensor for key, tensor in entries.items()}
    if missing := sorted(expected.keys() - tensors.keys()):
        raise ValueError(f"{path} lacks the entry {missing[0]}. {RESTORE}")
    if unknown := sorted(tensors.keys() - expected.keys()):
        raise ValueError(f"{path} has the entry {unknown[0]}, which this training does not have. {RESTORE}")
    for name, tensor in expected.items():
        stored, needed = (
            (str(t.dtype).removeprefix("torch."), tuple(t.shape)) for t in (tensors[name], tensor)
        )
        if stored != needed:
            raise ValueError(
                f"The entry {name} of {path} has type {stored[0]} and shape {stored[1]}; this training needs "
                f"{needed[0]} and {needed[1]}. {RESTORE}"
            )


def _progress(path: Path, tensors: Mapping[str, Tensor], steps: int) -> TrainState:
    """The counters; raises for those that no training has."""
    step, since_best, best = int(tensors["step"]), int(tensors["since_best"]), float(tensors["best"])
    if step > steps:
        raise ValueError(
            f"{path} is at step {step}, beyond the {steps} steps of this training. Pass more --steps."
        )
    updates = {name: tensor for name, tensor in tensors.items() if name.startswith("optimizer.")}
    updates = {name: tensor for name, tensor in updates.items() if name.endswith(".step")}
    valid = {
        "step": step >= 0,
        "since_best": since_best >= 0,
        "threads": bool((tensors["threads"][:, 1] > 0).all()),
        "best": not math.isnan(best),
        **{name: bool((tensor.isfinite() & (tensor >= 0)).all()) for name, tensor in updates.items()},
    }
    if wrong := [name for name, is_valid in valid.items() if not is_valid]:
        raise ValueError(f"The entry {wrong[0]} of {path} is {tensors[wrong[0]].tolist()}. {RESTORE}")
    return TrainState(step, best, since_best, tensors["threads"].tolist())


def _check_generators(path: Path, tensors: Mapping[str, Tensor], device: torch.device) -> None:
    """Raises for a state that torch refuses."""
    for name, kind in {"data": device, "noise": "cpu", "noise.cuda": device}.items():
        if (state := tensors.get(f"generator.{name}")) is not None:
            try:
                Generator(kind).set_state(state)
            except RuntimeError as error:
                raise ValueError(
                    f"The entry generator.{name} of {path} is no state of a generator ({error}). {RESTORE}"
                ) from None


def check_weights_finite(method: nn.Module, step: int, folder: Path) -> None:
    """Raises if a weight is NaN or infinite, so that such weights are never saved."""
    nonfinite = [name for name, value in method.state_dict().items() if not bool(torch.isfinite(value).all())]
    if nonfinite:
        raise FloatingPointError(
            f"Training stopped: the weight {nonfinite[0]} became NaN or infinite at step {step}. {REMEDY} The files in "
            f"{folder} are from an earlier step."
        )


class History:
    """Appends lines to history.jsonl.

    Args:
        run: The run.
        step: The step from which training continues; later lines are dropped first.
        callback: A function that is also called with each new line.
    """

    def __init__(
        self, run: Run, step: int, callback: Callable[[Mapping[str, Any]], None] | None = None
    ) -> None:
        lines = [line for line in run.logged() if line["step"] <= step]
        self._path = run.folder / "history.jsonl"
        write_atomically(self._path, "".join(json.dumps(line) + "\n" for line in lines).encode())
        self._start = time.monotonic() - (lines[-1]["seconds"] if lines else 0.0)
        self._callback = callback

    def add(self, step: int, terms: Mapping[str, float]) -> None:
        """Appends the terms of a step and the seconds of training so far."""
        seconds = round(time.monotonic() - self._start, 3)
        line = {"step": step, "seconds": seconds, **terms}
        append_line(self._path, json.dumps(line, allow_nan=False))
        if self._callback is not None:
            self._callback(line)

    def sync(self) -> None:
        """Makes the lines so far survive a power failure."""
        sync_file(self._path)
