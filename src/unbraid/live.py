"""What a person sees of a study that is under way: a table on a terminal, plain lines elsewhere."""

import json
import os
import shlex
import sys
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.options import written
from unbraid.plan import Plan
from unbraid.progress import SECONDS_BETWEEN_LINES, duration
from unbraid.work import Failure

SHOWN = 20  # lines of the table
ENOUGH = 0.25  # of a run, to say how long the rest will take


class Glimpse(NamedTuple):
    """How far a run is."""

    step: int
    steps: int
    speed: float  # steps a second
    loss: float | None

    @property
    def left(self) -> float:
        """Seconds to go, of the training alone."""
        return (self.steps - self.step) / self.speed if self.speed > 0 else float("inf")


def glimpse(folder: Path) -> Glimpse | None:
    """How far the run in a folder is by the last lines of its history; None before there are any."""
    try:
        steps = json.loads((folder / "run.json").read_text())["training"]["steps"]
        with open(folder / "history.jsonl", "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 4096))
            lines = [
                line for line in file.read().splitlines() if line.startswith(b"{") and line.endswith(b"}")
            ]
        last = json.loads(lines[-1])
    except (OSError, ValueError, KeyError, IndexError):
        return None
    return Glimpse(last["step"], steps, last["step"] / max(last["seconds"], 1e-9), last.get("loss"))


class Live:
    """Told what ends; looks into the run folders for the rest. This one says a line now and then.

    Args:
        plans: The runs that are to be done, by the run folder's name.
        folder: Of the run folders.
        known: How many further runs were done before.
    """

    def __init__(self, plans: Mapping[str, Plan], folder: Path, *, known: int) -> None:
        self.plans, self.folder, self.known = dict(plans), folder, known
        self.ended: dict[str, Failure | None] = {}
        self._began = time.monotonic()
        self._last = float("-inf")
        self._before = self._done()  # of runs that go on

    def __enter__(self) -> "Live":
        return self

    def __exit__(self, *exception: Any) -> None:
        pass

    def end(self, name: str, failure: Failure | None) -> None:
        """A run has ended."""
        self.ended[name] = failure
        if failure is not None:
            print(f"  failed: {failure.plan}: {failure.error}", file=sys.stderr, flush=True)

    def show(self) -> None:
        """Time has passed."""
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN_LINES or len(self.ended) == len(self.plans):
            self._last = now
            print(self.sentence(), file=sys.stderr, flush=True)

    def sentence(self) -> str:
        """How far the study is."""
        failed = sum(failure is not None for failure in self.ended.values())
        said = [f"{self.known + len(self.ended) - failed} of {self.known + len(self.plans)} runs done"]
        said += [f"{failed} failed"] if failed else []
        said += [f"{len(running)} under way"] if (running := self.running()) else []
        left = self.left()
        return ", ".join(said) + ("" if left is None else f"; {duration(left)} left")

    def running(self) -> dict[str, Glimpse]:
        """The runs under way, by the run folder's name."""
        seen = {name: glimpse(self.folder / name) for name in self.plans if name not in self.ended}
        return {name: far for name, far in seen.items() if far is not None}

    def left(self) -> float | None:
        """Seconds to go, by how much was done since the start, parts of runs counted; None before that is a quarter of
        a run, and at the end."""
        done = self._done() - self._before
        if done < ENOUGH or len(self.ended) == len(self.plans):
            return None
        return (time.monotonic() - self._began) / done * max(len(self.plans) - self._done(), 0.0)

    def _done(self) -> float:
        return sum((far.step / max(far.steps, 1) for far in self.running().values()), float(len(self.ended)))


class Quiet(Live):
    """Says nothing."""

    def end(self, name: str, failure: Failure | None) -> None:
        self.ended[name] = failure

    def show(self) -> None:
        pass


class Table(Live):
    """A Rich table on standard error: the runs under way, and the last that ended."""

    def __enter__(self) -> "Table":
        from rich.console import Console
        from rich.live import Live as RichLive

        self._recent: deque[str] = deque(maxlen=5)
        self._names = short_names(self.plans)
        self._live = RichLive(console=Console(stderr=True), refresh_per_second=2, transient=True)
        self._live.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._live.__exit__(*exception)
        print(self.sentence(), file=sys.stderr, flush=True)

    def end(self, name: str, failure: Failure | None) -> None:
        self.ended[name] = failure
        self._recent.append(name)

    def show(self) -> None:
        self._live.update(self._table())

    def _table(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(title=self.sentence(), title_justify="left", expand=True)
        table.add_column("run", ratio=3, overflow="ellipsis", no_wrap=True)
        table.add_column("")
        for heading in ("steps", "steps/s", "left", "loss"):
            table.add_column(heading, justify="right")
        for name in self._recent:
            failure = self.ended[name]
            said = (
                Text("done", "green") if failure is None else Text(failure.error, "red", overflow="ellipsis")
            )
            table.add_row(self._names[name], said)
        for name, far in list(self.running().items())[: SHOWN - len(self._recent)]:
            table.add_row(
                self._names[name],
                ProgressBar(total=far.steps, completed=far.step, width=16),
                f"{far.step:,}/{far.steps:,}",
                f"{far.speed:.1f}",
                duration(far.left),
                "" if far.loss is None else f"{far.loss:.4g}",
            )
        return table


def live(plans: Mapping[str, Plan], folder: Path, *, known: int, quiet: bool) -> Live:
    """The right display for where standard error goes."""
    kind = Quiet if quiet else Table if sys.stderr.isatty() else Live
    return kind(plans, folder, known=known)


def short_names(plans: Mapping[str, Plan]) -> dict[str, str]:
    """Each run in few words: its method, its data, and the options that tell it from the others."""
    names = {name for plan in plans.values() for name in plan.options}
    said = {name: {repr(plan.options.get(name)) for plan in plans.values()} for name in names}
    return {
        folder: shlex.join(
            [plan.method, plan.data]
            + [
                word
                for name, value in plan.options.items()
                if len(said[name]) > 1 and value is not None
                for word in written(name, value)
            ]
        )
        for folder, plan in plans.items()
    }
