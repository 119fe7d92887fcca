"""File locks of a study's folder: one study at a time, and no workers left over from an earlier study.

The operating system releases the locks of a process that dies.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import BaseFileLock

from unbraid.files import acquire_lock

PATIENCE = 30.0  # seconds; workers end as soon as they notice that the study's process is gone


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[None]:
    """Holds the lock of a study's folder, once the workers of an earlier study have ended."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = acquire_lock(
        folder / ".lock",
        timeout=0.0,
        message=f"Another process is running a study in {folder}. Wait until it has ended, or choose another folder.",
    )
    try:
        for path in folder.glob(".worker-*.lock"):
            message = f"Workers of an earlier study are still running in {folder}. End them, or choose another folder."
            acquire_lock(path, timeout=PATIENCE, message=message).release()
        yield
    finally:
        lock.release()


def worker_lock(folder: Path, number: int) -> BaseFileLock:
    """Marks a worker process as running in the folder, until the lock is released or the process ends."""
    message = (
        f"Worker {number} of an earlier study is still running in {folder}. End it, or choose another folder."
    )
    return acquire_lock(folder / f".worker-{number}.lock", timeout=PATIENCE, message=message)
