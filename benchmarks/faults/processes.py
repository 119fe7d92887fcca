"""Processes of the harness: forked commands, commands in an interpreter of their own, and how they end."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **{"BROWSER": "true", "MPLBACKEND": "agg", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    **{"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1", "COLUMNS": "100"},
}
DROPPED = ("UNBRAID_DEBUG", "UNBRAID_DATA")  # settings of whoever starts the harness


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Args:
        words: The command line, without `unbraid`.
        code: Exit code; negative for a signal.
        out: Standard output.
        err: Standard error.
        seconds: Duration.
        timed_out: Whether the harness killed it, because it did not end within its limit.
        killed: Whether the harness killed it on purpose.
        peak_megabytes: Largest memory of the process; 0 if unknown.
    """

    words: tuple[str, ...]
    code: int
    out: str
    err: str
    seconds: float
    timed_out: bool = False
    killed: bool = False
    peak_megabytes: int = 0

    @property
    def last_lines(self) -> str:
        """The command and the last lines that it printed."""
        lines = [*self.out.strip().splitlines()[-4:], *self.err.strip().splitlines()[-12:]]
        command = " ".join(["unbraid", *self.words])
        return "\n".join([f"$ {command:.400}", *(f"{line:.400}" for line in lines), f"exit code {self.code}"])


class Running:
    """A command that runs."""

    def __init__(self, words: Sequence[str], pid: int, out: Path, err: Path) -> None:
        self.words, self.pid, self.out, self.err = tuple(words), pid, out, err
        self._start, self._ended, self._killed = time.monotonic(), threading.Event(), False
        self._code = self._peak = 0
        self._seconds = 0.0

    @property
    def is_running(self) -> bool:
        return not self._ended.is_set()

    def note_end(self, code: int, peak_megabytes: int = 0) -> None:
        """Called when the process has ended."""
        self._code, self._peak = code, peak_megabytes
        self._seconds = time.monotonic() - self._start
        self._ended.set()

    def signal(self, number: int = signal.SIGKILL, *, group: bool = False) -> bool:
        """Sends a signal to the process, or to its whole session; False if it has ended."""
        if not self.is_running:
            return False
        try:
            (os.killpg if group else os.kill)(self.pid, number)
        except ProcessLookupError:
            return False
        self._killed = True
        return True

    def ends_within(self, seconds: float) -> bool:
        """Waits for the end."""
        return self._ended.wait(seconds)

    def wait(self, limit: float) -> Ended:
        """Waits for the end, at most `limit` seconds, and kills what is left."""
        killed, timed_out = self._killed, not self._ended.wait(limit)
        if timed_out:
            self.signal(group=True)
            if not self._ended.wait(30):
                raise RuntimeError(f"Process {self.pid} cannot be killed.")
        else:
            kill_session(self.pid)
        out, err = (path.read_bytes().decode("utf-8", "replace") for path in (self.out, self.err))
        return Ended(
            self.words, self._code, out, err, self._seconds, timed_out, killed or self._killed, self._peak
        )


class ForkedCommands:
    """The fork server, as a context."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock, self._numbers = folder, threading.Lock(), 0
        self._started: dict[int, tuple[threading.Event, list[int]]] = {}
        self._running: dict[int, Running] = {}
        self._early: dict[int, tuple[int, int]] = {}

    def __enter__(self) -> "ForkedCommands":
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "benchmarks.faults.fork_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment() | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
            text=True,
            cwd=self._folder,
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError("The fork server did not start.")
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for running in list(self._running.values()):
            running.signal(group=True)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()
        self._process.stdout.close()

    def start(
        self,
        words: Sequence[str],
        cwd: Path,
        *,
        variables: Mapping[str, str],
        output: Path,
        patch: tuple[str, dict[str, Any]] | None = None,
    ) -> Running:
        """Starts a command; its output goes to `output`.out and `output`.err."""
        out, err = output.with_suffix(".out"), output.with_suffix(".err")
        out.touch()
        err.touch()
        event, pid = threading.Event(), []
        with self._lock:
            self._numbers += 1
            number = self._numbers
            self._started[number] = event, pid
            wanted = {"start": number, "words": list(words), "cwd": str(cwd), "environment": dict(variables)}
            wanted |= {"out": str(out), "err": str(err), "patch": patch}
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(wanted) + "\n")
            self._process.stdin.flush()
        if not event.wait(60):
            raise RuntimeError("The fork server does not answer.")
        running = Running(words, pid[0], out, err)
        with self._lock:
            if (early := self._early.pop(running.pid, None)) is not None:
                running.note_end(*early)
            else:
                self._running[running.pid] = running
        return running

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            content = json.loads(line)
            with self._lock:
                if "started" in content:
                    event, pid = self._started.pop(content["started"])
                    pid.append(content["pid"])
                    event.set()
                    continue
                end = content["status"], content["peak_megabytes"]
                running = self._running.pop(content["ended"], None)
                if running is None:
                    self._early[content["ended"]] = end
            if running is not None:
                running.note_end(*end)


def start_fresh(
    words: Sequence[str], cwd: Path, *, variables: Mapping[str, str], output: Path, script: str | None = None
) -> Running:
    """Starts a command, or a Python script with arguments, in an interpreter of its own."""
    program = ["-m", "unbraid"] if script is None else ["-c", script]
    out, err = output.with_suffix(".out"), output.with_suffix(".err")
    with out.open("wb") as standard_output, err.open("wb") as standard_error:
        process = subprocess.Popen(
            [sys.executable, "-P", *program, *words],
            stdin=subprocess.DEVNULL,
            stdout=standard_output,
            stderr=standard_error,
            env=environment() | {"PYTHONPATH": str(ROOT / "src")} | dict(variables),
            cwd=cwd,
            start_new_session=True,
        )
    running = Running(words, process.pid, out, err)
    threading.Thread(target=lambda: running.note_end(process.wait()), daemon=True).start()
    return running


def environment() -> dict[str, str]:
    """The environment of every command: one thread, no browser, no proxy."""
    own = {name: value for name, value in os.environ.items() if name not in DROPPED}
    return own | ENVIRONMENT


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and theirs, oldest first."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                after_name = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended meanwhile
                continue
            parents.setdefault(int(after_name[1]), []).append(int(folder.name))
    found, waiting = [], [pid]
    while waiting:
        children = sorted(parents.get(waiting.pop(), []))
        found += children
        waiting += children
    return found


def kill_session(pid: int) -> None:
    """Kills what a command has left running."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def remove(folder: Path) -> None:
    """Deletes a folder, whatever its permissions."""
    for path in [folder, *folder.rglob("*")] if folder.exists() else []:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
