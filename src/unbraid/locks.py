"""One at a time in a folder, and nobody left over from before."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

try:
    import fcntl
except ModuleNotFoundError:  # Windows: two studies in one folder are not noticed there
    fcntl = None  # type: ignore[assignment]

PATIENCE = 30.0  # seconds; workers end as soon as they notice that nobody is there


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else is at work in the folder meanwhile; the system takes the lock back from a process that dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a") as lock, open(folder / ".workers", "a") as workers:
        if not _take(lock):
            raise ValueError(
                f"Another process is at work in {folder}: wait until it has ended, or choose another folder."
            )
        began = time.monotonic()
        while not _take(workers):
            if time.monotonic() - began > PATIENCE:
                raise ValueError(
                    f"Workers of an earlier study are still at work in {folder}: end them, or choose another folder."
                )
            time.sleep(0.05)
        _give_back(workers)
        yield


def at_work(folder: Path) -> IO[str]:
    """Says that this process works in the folder, as long as what is returned is kept open."""
    file = open(folder / ".workers", "a")  # noqa: SIM115 - it is the caller's to close
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_SH)
    return file


def _take(file: IO[str]) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _give_back(file: IO[str]) -> None:
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)
