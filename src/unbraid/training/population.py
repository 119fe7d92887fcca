"""Populations: many models trained concurrently on one CUDA device.

One small model leaves most of a GPU idle, because its kernels are short and wait for one another. Models of one kind
therefore train as a stack, with one kernel where each would have its own. Others take turns, each with its captured
step on its own stream, and the device works on all of them concurrently. Every model has its own data order, noise,
folder and checkpoints, and ends as if it had been trained alone.
"""

import functools
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch

from unbraid.data import Dataset
from unbraid.distributed import choose_device
from unbraid.progress import Stopped, progress
from unbraid.runs import Run
from unbraid.settings import to_json
from unbraid.training.config import LoopConfig, TrainConfig
from unbraid.training.loop import Trainer
from unbraid.training.plan_groups import TrainingPlan, groups_of_one_kind, varying_scalars
from unbraid.training.process import deterministic_kernels, stop_requested
from unbraid.training.stacked import StackedTraining
from unbraid.training.stacked_step import NotStackableError
from unbraid.training.train import move_to_device, open_trainer

MAX_CONCURRENT = 16  # models on the device; β-VAEs at 64×64 gain nothing from more than 8
# Steps of a model before the next model's turn. A stream accepts a limited number of launches. Beyond it the process
# waits for that stream, and the other streams run empty.
STEPS_PER_TURN = 10


P = TypeVar("P", bound=TrainingPlan)


def train_population(
    plans: Sequence[P],
    out: Path | str,
    *,
    max_concurrent: int = MAX_CONCURRENT,
    root: Path | str | None = None,
    device: str = "auto",
    resume: bool = False,
    stack: bool = False,
    on_end: Callable[[P, Run | Exception], None] | None = None,
    **options: Any,
) -> list[Run | Exception]:
    """Trains every plan in a folder of its own; returns each plan's run, or the exception that ended it.

    On a CUDA device, several models train concurrently and the others wait. Elsewhere, where concurrency gains
    nothing, plans train one after the other. Plans may differ in anything. Plans that differ only in seeds and numbers
    of their method share their compiled losses, or train as one stack, whose step updates all of them, unless a trial
    shows that they cannot. Plans with the same data share the data on the device.

    Args:
        plans: The plans; no two may ask for the same run.
        out: The folder of the run folders, which are named by `Plan.folder_name`.
        max_concurrent: Number of models on the device at a time.
        root: The data root of official files.
        device: Device: auto, cpu, cuda, cuda:N or mps.
        resume: Whether to continue runs that are there.
        stack: Whether plans of one kind train as a stack. On a CPU a stack is slower than one plan after the other.
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

    on = choose_device(device)
    if on.type == "cuda" or (stack and on.type == "cpu"):
        population = _Population(plans, folders, root, on, resume, LoopConfig(**options), stack=stack)
        population.train(max_concurrent, end)
    else:
        for number, (plan, folder) in enumerate(zip(plans, folders, strict=True)):
            train_one = functools.partial(
                plan.run, folder, root=root, device=device, resume=resume, **options
            )
            end(number, _attempt(train_one))
    return [outcomes[number] for number in range(len(plans))]


class _Turns(NamedTuple):
    """A training, or a stack of trainings, that takes turns with others."""

    numbers: tuple[int, ...]  # of its plans
    training: Trainer | StackedTraining
    steps: Iterator[None]


class _Population:
    """Trainings that take turns on one device."""

    def __init__(
        self,
        plans: Sequence[TrainingPlan],
        folders: Sequence[Path],
        root: Path | str | None,
        device: torch.device,
        resume: bool,
        loop: LoopConfig,
        *,
        stack: bool = False,
    ) -> None:
        self.plans, self.folders, self.device, self.resume, self.loop = plans, folders, device, resume, loop
        self.datasets, self.stack = _SharedDatasets(root, device), stack
        # The choice holds for the whole process: models without the option then use these kernels, too.
        self.deterministic = any(plan.training().get("deterministic", False) for plan in plans)

    def train(self, max_concurrent: int, end: Callable[[int, Run | Exception], None]) -> None:
        """Trains every plan; a plan's number and outcome go to `end`."""
        numbers = range(len(self.plans))
        waiting = deque(
            groups_of_one_kind(self.plans, max_concurrent) if self.stack else [[n] for n in numbers]
        )
        running, ended = deque[_Turns](), set[int]()

        def end_one(number: int, outcome: Run | Exception) -> None:
            ended.add(number)
            end(number, outcome)

        with (
            deterministic_kernels(self.deterministic, self.device),
            progress("population", len(self.plans), quiet=self.loop.quiet, unit="models") as bar,
            stop_requested() as stop,
        ):
            while waiting or running:
                concurrent = sum(len(turns.numbers) for turns in running)
                if waiting and concurrent + len(waiting[0]) <= max_concurrent:
                    started = list(self.start(waiting.popleft(), stop, end_one))
                    running.extendleft(started)
                    if not started:
                        continue
                turns = running.popleft()
                try:
                    is_over = self.advance(turns, ended, end_one)
                except KeyboardInterrupt:
                    turns.training.close()
                    for other in running:
                        with closing(other.training):
                            _save(other.steps)
                    raise
                if not is_over:
                    running.append(turns)
                bar.show(len(ended), {"concurrent": float(sum(len(turns.numbers) for turns in running))})

    def advance(self, turns: _Turns, ended: Set[int], end: Callable[[int, Run | Exception], None]) -> bool:
        """Gives a training or a stack its next turn; returns whether that was the last."""
        outcome = _attempt(lambda: next(turns.steps, self))
        if outcome is None:
            return False
        if isinstance(turns.training, Trainer) and not isinstance(outcome, Exception):
            outcome = _attempt(turns.training.finish)
        turns.training.close()
        for number in turns.numbers:
            if number not in ended:
                end(number, outcome)
        return True

    def start(
        self, numbers: list[int], stop: Callable[[], bool], end: Callable[[int, Run | Exception], None]
    ) -> Iterator[_Turns]:
        """Opens the trainings of plans of one kind, and stacks those that can be."""
        opened: dict[int, dict[int, Trainer]] = {}  # by step: resumed trainings may be at different ones
        for number in numbers:
            trainer = _attempt(functools.partial(self.open, number))
            if isinstance(trainer, Trainer):
                step = trainer.state.step if self.stack else 0
                opened.setdefault(step, {})[number] = trainer
            else:  # the run was finished before, or could not be opened
                end(number, trainer)
        for trainers in opened.values():
            together = tuple(trainers)
            if self.stack and len(together) > 1:
                stacked = self.stacked(
                    list(trainers.values()), lambda at, outcome, t=together: end(t[at], outcome)
                )
                if stacked is not None:
                    yield _Turns(together, stacked, stacked.steps(stop, turn=STEPS_PER_TURN))
                    continue
            for number, trainer in trainers.items():
                yield _Turns((number,), trainer, trainer.steps(stop, turn=STEPS_PER_TURN))

    def stacked(
        self, trainers: list[Trainer], end: Callable[[int, Run | Exception], None]
    ) -> StackedTraining | None:
        """The trainings as a stack; None, with a line that says why, if they cannot be stacked."""
        try:
            return StackedTraining(trainers, end)
        except NotStackableError as reason:
            if not self.loop.quiet:
                title = f"{trainers[0].title}: {len(trainers)} models"
                print(f"{title} train on streams and not as a stack: {reason}.", file=sys.stderr, flush=True)
            return None

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


def _save(turns: Iterator[None]) -> None:
    """Lets trainings write their checkpoints after a stop was requested: they take one more step and save."""
    with suppress(Exception, Stopped):
        for _ in turns:
            pass


def _attempt(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:
        return error
