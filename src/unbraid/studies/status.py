"""Progress of a running study: a table on a terminal, plain lines elsewhere."""

import os
import shlex
import sys
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.files import Whole, parse_json, read_json, require_schema
from unbraid.options import to_cli_args
from unbraid.progress import SECONDS_BETWEEN_LINES, duration
from unbraid.studies.jobs import Failure
from unbraid.studies.plan import Plan

MAX_LINES = 20  # of the table
MIN_PROGRESS = 0.25  # of a run, before the remaining time is estimated


class RunProgress(NamedTuple):
    """The progress of a run."""

    step: int
    steps: int
    speed: float  # steps per second
    loss: float | None

    @property
    def seconds_left(self) -> float:
        """Remaining seconds of training, without evaluation."""
        return (self.steps - self.step) / self.speed if self.speed > 0 else float("inf")


def read_progress(folder: Path) -> RunProgress | None:
    """The progress of a run from the last line of its history; None if there is none yet."""
    try:
        steps = read_json(folder / "run.json", {"training": {"steps": Whole(1)}})["training"]["steps"]
        with open(folder / "history.jsonl", "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 4096))
            lines = [
                line for line in file.read().splitlines() if line.startswith(b"{") and line.endswith(b"}")
            ]
        last = parse_json(lines[-1], "history.jsonl")
        require_schema(last, {"step": Whole(), "seconds": float, ...: float}, "history.jsonl")
    except (OSError, ValueError, IndexError):  # the run itself says what is damaged
        return None
    return RunProgress(last["step"], steps, last["step"] / max(last["seconds"], 1e-9), last.get("loss"))


class StatusLines:
    """Prints a line about the study from time to time; reads the progress from the run folders.

    Args:
        plans: Pending runs by the name of the run folder.
        folder: Folder of the run folders.
        known: Number of runs that were finished before.
    """

    def __init__(self, plans: Mapping[str, Plan], folder: Path, *, known: int) -> None:
        self.plans, self.folder, self.known = dict(plans), folder, known
        self.ended: dict[str, Failure | None] = {}
        self._began = time.monotonic()
        self._last = float("-inf")
        self._before = self._done()  # of resumed runs

    def __enter__(self) -> "StatusLines":
        return self

    def __exit__(self, *exception: Any) -> None:
        pass

    def end(self, name: str, failure: Failure | None) -> None:
        """Records the end of a run."""
        self.ended[name] = failure
        if failure is not None:
            print(f"  failed: {failure.plan}: {failure.error}", file=sys.stderr, flush=True)

    def show(self) -> None:
        """Updates the display."""
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN_LINES or len(self.ended) == len(self.plans):
            self._last = now
            print(self.sentence(), file=sys.stderr, flush=True)

    def sentence(self) -> str:
        """The state of the study in one sentence."""
        failed = sum(failure is not None for failure in self.ended.values())
        parts = [f"{self.known + len(self.ended) - failed} of {self.known + len(self.plans)} runs done"]
        parts += [f"{failed} failed"] if failed else []
        parts += [f"{len(running)} running"] if (running := self.running()) else []
        left = self.seconds_left()
        return ", ".join(parts) + ("" if left is None else f"; {duration(left)} left")

    def running(self) -> dict[str, RunProgress]:
        """The progress of the running runs by the name of the run folder."""
        progress = {name: read_progress(self.folder / name) for name in self.plans if name not in self.ended}
        return {name: each for name, each in progress.items() if each is not None}

    def seconds_left(self) -> float | None:
        """Remaining seconds, from the progress since the start; None before a quarter of a run, and at the end."""
        done = self._done() - self._before
        if done < MIN_PROGRESS or len(self.ended) == len(self.plans):
            return None
        return (time.monotonic() - self._began) / done * max(len(self.plans) - self._done(), 0.0)

    def _done(self) -> float:
        return sum((run.step / max(run.steps, 1) for run in self.running().values()), float(len(self.ended)))


class NoStatus(StatusLines):
    """Prints nothing."""

    def end(self, name: str, failure: Failure | None) -> None:
        self.ended[name] = failure

    def show(self) -> None:
        pass


class StatusTable(StatusLines):
    """A Rich table on standard error with the running runs and those that ended last."""

    def __enter__(self) -> "StatusTable":
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
            outcome = (
                Text("done", "green") if failure is None else Text(failure.error, "red", overflow="ellipsis")
            )
            table.add_row(self._names[name], outcome)
        for name, run in list(self.running().items())[: MAX_LINES - len(self._recent)]:
            table.add_row(
                self._names[name],
                ProgressBar(total=run.steps, completed=run.step, width=16),
                f"{run.step:,}/{run.steps:,}",
                f"{run.speed:.1f}",
                duration(run.seconds_left),
                "" if run.loss is None else f"{run.loss:.4g}",
            )
        return table


def make_status(plans: Mapping[str, Plan], folder: Path, *, known: int, quiet: bool) -> StatusLines:
    """A table if standard error is a terminal, otherwise lines."""
    kind = NoStatus if quiet else StatusTable if sys.stderr.isatty() else StatusLines
    return kind(plans, folder, known=known)


def short_names(plans: Mapping[str, Plan]) -> dict[str, str]:
    """A short name per run: its method, its dataset and its varying options."""
    names = {name for plan in plans.values() for name in plan.options}
    values = {name: {repr(plan.options.get(name)) for plan in plans.values()} for name in names}
    return {
        folder: shlex.join(
            [plan.method, plan.data]
            + [
                word
                for name, value in plan.options.items()
                if len(values[name]) > 1 and value is not None
                for word in to_cli_args(name, value)
            ]
        )
        for folder, plan in plans.items()
    }
