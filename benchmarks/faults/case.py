"""One case: a family, a number, a seed that follows from both, and a folder of its own."""

import random
import re
import shutil
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.faults.judge import Kept, check_json, check_no_code_ran, judge
from benchmarks.faults.processes import Ended, ForkedCommands, Running, remove, start_fresh

T = TypeVar("T")
LIMIT = 90.0  # seconds for one command, on a machine that does other things too


class NotHere(Exception):
    """A case that this machine cannot try, with the reason."""


@dataclass
class Bench:
    """What all cases share: the fork server, a folder, and things that are made once.

    Args:
        folder: Folder for everything that the harness writes.
        forked: The fork server.
    """

    folder: Path
    forked: ForkedCommands
    _made: dict[str, Any] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def once(self, name: str, make: Callable[[Path], T]) -> T:
        """What `make` returns for a new folder; made by the first case that asks."""
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self._made:
                folder = self.folder / "shared" / re.sub(r"\W+", "-", name)
                remove(folder)
                folder.mkdir(parents=True)
                self._made[name] = make(folder)
            return self._made[name]


class Case:
    """One case, as a context: its folder is deleted at the end if the case has survived."""

    def __init__(self, family: str, number: int, bench: Bench) -> None:
        self.family, self.number, self.bench = family, number, bench
        self.name = f"{family}/{number}"
        self.rng = random.Random(self.name)
        self.folder = bench.folder / "cases" / f"{family}-{number}"
        self.tried = ""  # what the case did, in a few words
        self.commands: list[Ended] = []
        self._running: list[Running] = []

    def __enter__(self) -> "Case":
        remove(self.folder)
        (self.folder / "home").mkdir(parents=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for running in self._running:
            running.signal(group=True)
        if kind is None:
            remove(self.folder)

    def copy_of(self, origin: Path, name: str = "here") -> Path:
        """A copy of a folder, in the folder of the case."""
        return Path(shutil.copytree(origin, self.folder / name, symlinks=True))

    def start(
        self,
        words: Sequence[object],
        cwd: Path,
        *,
        patch: tuple[str, dict[str, Any]] | None = None,
        variables: Mapping[str, str] | None = None,
        fresh: bool = False,
        script: str | None = None,
    ) -> Running:
        """Starts `unbraid` with these words; `fresh` in an interpreter of its own, which takes seconds.

        Training on several devices starts further processes with the same arguments, so it is always fresh.
        """
        output = self.folder / f"output-{len(self._running)}"
        surroundings = {"HOME": str(self.folder / "home"), **(variables or {})}
        line = [str(word) for word in words]
        if fresh or script is not None or any(word.split("=")[0] == "--devices" for word in line):
            running = start_fresh(line, cwd, variables=surroundings, output=output, script=script)
        else:
            running = self.bench.forked.start(line, cwd, variables=surroundings, output=output, patch=patch)
        self._running.append(running)
        return running

    def end(self, running: Running, codes: Collection[int] = (0, 2), *, limit: float = LIMIT) -> Ended:
        """Waits for a command and judges how it ended."""
        ended = running.wait(limit)
        self.commands.append(ended)
        return judge(ended, codes)

    def call(
        self,
        words: Sequence[object],
        cwd: Path,
        codes: Collection[int] = (0, 2),
        *,
        limit: float = LIMIT,
        **options: Any,
    ) -> Ended:
        """Runs `unbraid` with these words and judges how it ended."""
        return self.end(self.start(words, cwd, **options), codes, limit=limit)

    def check_files(self, before: Kept | None = None) -> None:
        """Raises if JSON in the case's folder is invalid, or if planted code has run."""
        check_json(self.folder if before is None else before.folder, before)
        check_no_code_ran(self.folder)


TryCase = Callable[[Case], None]


@dataclass(frozen=True)
class Family:
    """Cases of one kind.

    Args:
        name: Name on the command line.
        what: What is tried, in a few words, for the table.
        counts: Number of cases of the short, the standard and the full harness.
        attempt: Tries one case; raises `DidNotSurvive`, or `NotHere`.
    """

    name: str
    what: str
    counts: tuple[int, int, int]
    attempt: TryCase
