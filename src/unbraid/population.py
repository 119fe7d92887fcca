"""Many models at once on one device.

One small model leaves most of a GPU idle: its kernels are short and wait for one another. So several trainings take
turns, each with its recorded step on a stream of its own, and the device works on all of them at a time. Every model
has its own data, noise, folder and checkpoints, and ends as if it had been trained alone.
"""

import functools
import json
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from unbraid.data.dataset import Dataset
from unbraid.devices import choose_device
from unbraid.interrupts import asked_to_stop
from unbraid.loop import Loop
from unbraid.plan import Plan
from unbraid.progress import progress
from unbraid.runs import Run
from unbraid.settings import describe
from unbraid.train import open_loop, settle

AT_ONCE = 16  # models on the device; β-VAEs at 64×64 gain nothing from more than 8
# Steps of a model before the next one's turn. A stream takes so many launches and no more; the process then waits for
# it, and the streams of the others run empty.
A_TURN = 10


def train_population(
    plans: Sequence[Plan],
    out: Path | str,
    *,
    at_once: int = AT_ONCE,
    root: Path | str | None = None,
    device: str = "auto",
    resume: bool = False,
    checkpoint_seconds: float = 30.0,
    log_every: int = 50,
    compiled: bool | None = None,
    ended: Callable[[Plan, Run | Exception], None] | None = None,
    quiet: bool = False,
) -> list[Run | Exception]:
    """Trains every plan in a folder of its own; returns its run, or what went wrong with it.

    On a CUDA device many are trained at once, and the others wait for one to end; elsewhere, where that would gain
    nothing, one after the other. Plans may differ in anything. Those of one method that differ in seeds and numbers
    only share their compiled losses, and those with the same data share it on the device.

    Args:
        plans: What to train; no two may ask for the same run.
        out: The folder of the run folders, which are named by `Plan.folder`.
        at_once: How many models share the device.
        root: The data root of official files.
        device: auto, cpu, cuda or mps.
        resume: Goes on with the folders that are there.
        checkpoint_seconds: The time between two checkpoints of a model.
        log_every: Steps between two lines of history.
        compiled: Whether losses are compiled; left out, where that pays.
        ended: Is told of every plan's run, or what went wrong with it, as soon as it ends.
        quiet: Shows no progress.
    """
    if at_once < 1:
        raise ValueError(f"At least 1 model must be trained at once; got at_once={at_once}.")
    folders = [Path(out) / plan.folder for plan in plans]
    if len(set(folders)) < len(folders):
        raise ValueError("Two of the plans ask for the same run: give them different seeds or settings.")
    place = choose_device(device)
    how = {"checkpoint_seconds": checkpoint_seconds, "log_every": log_every, "compiled": compiled}
    data = _Shared(root, place)
    outcomes: dict[int, Run | Exception] = {}

    def end(number: int, outcome: Run | Exception) -> None:
        outcomes[number] = outcome
        if ended is not None:
            ended(plans[number], outcome)

    if place.type != "cuda":
        for number, (plan, folder) in enumerate(zip(plans, folders, strict=True)):
            alone = functools.partial(
                plan.run, folder, root=root, device=device, resume=resume, quiet=quiet, **how
            )
            end(number, _attempt(alone))
        return list(outcomes.values())

    def open_one(number: int) -> Loop | Run:
        plan, dataset = plans[number], data.of(plans[number])
        return open_loop(
            plan.build(dataset),
            dataset,
            place,
            out=folders[number],
            draw=plan.draw(),
            resume=resume,
            start_from=None,
            training=plan.training(),
            varying=varying_numbers(plan, plans),
            quiet=True,
            **how,
        )

    waiting, playing = deque(range(len(plans))), deque[tuple[int, Loop]]()
    with progress("population", len(plans), quiet=quiet, unit="models") as bar, asked_to_stop() as asked:
        while waiting or playing:
            while waiting and len(playing) < at_once:
                number = waiting.popleft()
                opened = _attempt(lambda n=number: open_one(n))
                if isinstance(opened, Loop):
                    opened.advance(asked, most=A_TURN)
                    playing.append((number, opened))
                else:
                    end(number, opened)
            if playing:
                number, loop = playing.popleft()
                try:
                    after = _attempt(lambda one=loop: _turn(one, asked))
                except KeyboardInterrupt:
                    for _, other in playing:
                        _stop(other, asked)
                    raise
                if after is None:
                    playing.append((number, loop))
                else:
                    end(number, after)
            bar.show(len(outcomes), {"at once": float(len(playing))})
    return [outcomes[number] for number in range(len(plans))]


def varying_numbers(plan: Plan, plans: Sequence[Plan]) -> frozenset[str]:
    """The numeric settings of the plan's method in which the plans of that method differ."""
    resolved = [other.resolved().get("method", {}) for other in plans if other.method == plan.method]
    return frozenset(
        name
        for name in resolved[0]
        if all(isinstance(settings[name], float) for settings in resolved)
        and len({settings[name] for settings in resolved}) > 1
    )


class _Shared:
    """The datasets of the plans, each opened once and kept on the device."""

    def __init__(self, root: Path | str | None, place: torch.device) -> None:
        self.root, self.place = root, place
        self._opened: dict[str, Dataset] = {}

    def of(self, plan: Plan) -> Dataset:
        key = json.dumps(describe([plan.data, plan.given("data")]), sort_keys=True)
        if key not in self._opened:
            self._opened[key] = settle(plan.dataset(self.root), self.place)
        return self._opened[key]


def _turn(loop: Loop, asked: Callable[[], bool]) -> Run | None:
    """Writes what a training's last steps did and gives it new ones; its run when there are no more."""
    loop.settle()
    if loop.done:
        return loop.finish()
    loop.advance(asked, most=A_TURN)
    return None


def _stop(loop: Loop, asked: Callable[[], bool]) -> None:
    """Lets a training write its checkpoint."""
    with suppress(Exception, KeyboardInterrupt):
        loop.settle()
        loop.advance(asked, most=A_TURN)
        loop.settle()


def _attempt(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:
        return error
