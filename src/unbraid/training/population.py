"""Populations: many models trained concurrently on one CUDA device.

One small model leaves most of a GPU idle, because its kernels are short and wait for one another. Several trainings
therefore take turns, each with its captured step on its own stream, and the device works on all of them concurrently.
Every model has its own data order, noise, folder and checkpoints, and ends as if it had been trained alone.
"""

import functools
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch

from unbraid.data import Dataset, Draw
from unbraid.distributed import choose_device
from unbraid.methods import Method
from unbraid.progress import Stopped, progress
from unbraid.runs import Run
from unbraid.settings import to_json
from unbraid.training.config import LoopConfig, TrainConfig
from unbraid.training.loop import Trainer
from unbraid.training.process import deterministic_kernels, stop_requested
from unbraid.training.train import move_to_device, open_trainer

MAX_CONCURRENT = 16  # models on the device; β-VAEs at 64×64 gain nothing from more than 8
# Steps of a model before the next model's turn. A stream accepts a limited number of launches. Beyond it the process
# waits for that stream, and the other streams run empty.
STEPS_PER_TURN = 10


@runtime_checkable
class TrainingPlan(Protocol):
    """What a population needs of a plan; `unbraid.Plan` provides it."""

    @property
    def method(self) -> str: ...
    @property
    def data(self) -> str: ...
    @property
    def folder_name(self) -> str: ...
    def resolved(self) -> dict[str, dict[str, Any]]: ...
    def explicit_options(self, owner: str) -> dict[str, Any]: ...
    def dataset(self, root: Path | str | None = None) -> Dataset: ...
    def build_draw(self) -> Draw: ...
    def build(self, dataset: Dataset) -> Method: ...
    def training(self) -> dict[str, Any]: ...
    def run(self, out: Path | str, *, root: Path | str | None = None, **options: Any) -> Run: ...


P = TypeVar("P", bound=TrainingPlan)


def train_population(
    plans: Sequence[P],
    out: Path | str,
    *,
    max_concurrent: int = MAX_CONCURRENT,
    root: Path | str | None = None,
    device: str = "auto",
    resume: bool = False,
    on_end: Callable[[P, Run | Exception], None] | None = None,
    **options: Any,
) -> list[Run | Exception]:
    """Trains every plan in a folder of its own; returns each plan's run, or the exception that ended it.

    On a CUDA device, several models train concurrently and the others wait. Elsewhere, where concurrency gains
    nothing, plans train one after the other. Plans may differ in anything. Plans of one method that differ only in
    seeds and numbers share their compiled losses, and plans with the same data share the data on the device.

    Args:
        plans: The plans; no two may ask for the same run.
        out: The folder of the run folders, which are named by `Plan.folder_name`.
        max_concurrent: Number of models on the device at a time.
        root: The data root of official files.
        device: Device: auto, cpu, cuda, cuda:N or mps.
        resume: Whether to continue runs that are there.
        on_end: Called with every plan and its run, or its exception, as soon as the plan ends.
        **options: Fields of `LoopConfig`: checkpoint_seconds, log_every, compile, quiet.
    """
    if max_concurrent < 1:
        raise ValueError(f"max_concurrent must be at least 1 model; got {max_concurrent}.")
    folders = [Path(out) / plan.folder_name for plan in plans]
    if "logger" in options:
        raise ValueError(
            "A population has no --logger: its runs log to their folders only. Remove the option."
        )
    if len(set(folders)) < len(folders):
        raise ValueError("Two of the plans ask for the same run: give them different seeds or options.")
    outcomes: dict[int, Run | Exception] = {}

    def end(number: int, outcome: Run | Exception) -> None:
        outcomes[number] = outcome
        if on_end is not None:
            on_end(plans[number], outcome)

    if choose_device(device).type == "cuda":
        population = _Population(plans, folders, root, choose_device(device), resume, LoopConfig(**options))
        population.train(max_concurrent, end)
    else:
        for number, (plan, folder) in enumerate(zip(plans, folders, strict=True)):
            train_one = functools.partial(
                plan.run, folder, root=root, device=device, resume=resume, **options
            )
            end(number, _attempt(train_one))
    return [outcomes[number] for number in range(len(plans))]


class _Population:
    """Trainings that take turns on one CUDA device."""

    def __init__(
        self,
        plans: Sequence[TrainingPlan],
        folders: Sequence[Path],
        root: Path | str | None,
        device: torch.device,
        resume: bool,
        loop: LoopConfig,
    ) -> None:
        self.plans, self.folders, self.device, self.resume, self.loop = plans, folders, device, resume, loop
        self.datasets = _SharedDatasets(root, device)
        # The choice holds for the whole process: models without the option then use these kernels, too.
        self.deterministic = any(plan.training().get("deterministic", False) for plan in plans)

    def train(self, max_concurrent: int, end: Callable[[int, Run | Exception], None]) -> None:
        """Trains every plan; a plan's number and outcome go to `end`."""
        waiting, running, ended = (
            deque(range(len(self.plans))),
            deque[tuple[int, Trainer, Iterator[None]]](),
            0,
        )
        with (
            deterministic_kernels(self.deterministic, self.device),
            progress("population", len(self.plans), quiet=self.loop.quiet, unit="models") as bar,
            stop_requested() as stop,
        ):
            while waiting or running:
                if waiting and len(running) < max_concurrent:
                    number = waiting.popleft()
                    opened = _attempt(functools.partial(self.open, number))
                    if not isinstance(opened, Trainer):  # the run was finished before, or could not be opened
                        end(number, opened)
                        ended += 1
                        continue
                    running.appendleft((number, opened, opened.steps(stop, turn=STEPS_PER_TURN)))
                number, trainer, turns = running.popleft()
                try:
                    outcome = _attempt(functools.partial(_advance_one, trainer, turns))
                except KeyboardInterrupt:
                    trainer.close()
                    for _, other, others in running:
                        _save(other, others)
                    raise
                if outcome is None:
                    running.append((number, trainer, turns))
                else:
                    trainer.close()
                    end(number, outcome)
                    ended += 1
                bar.show(ended, {"concurrent": float(len(running))})

    def open(self, number: int) -> Trainer | Run:
        plan = self.plans[number]
        dataset = self.datasets.of(plan)
        return open_trainer(
            plan.build(dataset),
            dataset,
            self.device,
            TrainConfig(**plan.training()),
            replace(self.loop, quiet=True),
            out=self.folders[number],
            draw=plan.build_draw(),
            resume=self.resume,
            varying=varying_scalars(plan, self.plans),
        )


def varying_scalars(plan: TrainingPlan, plans: Sequence[TrainingPlan]) -> frozenset[str]:
    """The numeric options of the plan's method in which the plans of that method differ."""
    resolved = [other.resolved().get("method", {}) for other in plans if other.method == plan.method]
    return frozenset(
        name
        for name in resolved[0]
        if all(isinstance(settings[name], float) for settings in resolved)
        and len({settings[name] for settings in resolved}) > 1
    )


class _SharedDatasets:
    """The datasets of the plans, each opened once and kept on the device."""

    def __init__(self, root: Path | str | None, device: torch.device) -> None:
        self.root, self.device = root, device
        self._opened: dict[str, Dataset] = {}

    def of(self, plan: TrainingPlan) -> Dataset:
        key = json.dumps(to_json([plan.data, plan.explicit_options("data")]), sort_keys=True)
        if key not in self._opened:
            self._opened[key] = move_to_device(plan.dataset(self.root), self.device)
        return self._opened[key]


def _advance_one(trainer: Trainer, turns: Iterator[None]) -> Run | None:
    """Gives a training its next turn; returns its run after the last one."""
    for _ in turns:
        return None
    return trainer.finish()


def _save(trainer: Trainer, turns: Iterator[None]) -> None:
    """Lets a training write its checkpoint after a stop was requested: it takes one more step and saves."""
    with closing(trainer), suppress(Exception, Stopped):
        for _ in turns:
            pass


def _attempt(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:
        return error
