"""What a forked command finds changed about the world: clocks, disks that lose power, addresses, and its own death."""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink"}


def die_at_change(folder: str, number: int, count: str) -> None:
    """Kills the process just before its `number`-th change of a file below `folder`; 0 lets it live.

    The number of changes is kept in the file `count`.
    """
    seen = 0
    counter = os.open(count, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def notice(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if not _changes_files(event, arguments, folder):
            return
        seen += 1
        os.pwrite(counter, b"%d" % seen, 0)
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(notice)


def _changes_files(event: str, arguments: tuple[Any, ...], folder: str) -> bool:
    """Whether an audited event creates, opens for writing, renames or deletes something below the folder."""
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, int) or not isinstance(flags, int) or not flags & WRITING:
            return False
    elif event in CHANGES:
        path = arguments[0]
    else:
        return False
    return isinstance(path, str | bytes) and os.path.abspath(os.fsdecode(path)).startswith(folder)


def clock(seed: int) -> None:
    """Sets the wall clock back by seconds, days or years several times while the command runs, and starts the other
    clock at zero, as after a restart of the machine."""
    rng, real, start = random.Random(seed), time.time, time.monotonic()
    offset, calls, next_jump = 0.0, 0, rng.randint(1, 10)
    monotonic = time.monotonic

    def set_back() -> float:
        nonlocal offset, calls, next_jump
        calls += 1
        if calls == next_jump:
            offset += rng.choice((1, 3_600, 86_400, 10 * 365 * 86_400))
            next_jump += rng.randint(1, 30)
        return real() - offset

    time.time = set_back
    time.monotonic = lambda: monotonic() - start


def record_syncs(log: str) -> None:
    """Writes one JSON line for each sync and rename: what would survive a power failure."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    fsync, replace, rename = os.fsync, os.replace, os.rename

    def note(*words: str) -> None:
        os.write(file, (json.dumps(words) + "\n").encode())

    def noted_fsync(descriptor: Any) -> None:
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        fsync(number)
        note("sync", os.readlink(f"/proc/self/fd/{number}"))

    def noted(change: Callable[..., None]) -> Callable[..., None]:
        def call(source: Any, target: Any, **options: Any) -> None:
            change(source, target, **options)
            note("rename", os.path.abspath(os.fspath(source)), os.path.abspath(os.fspath(target)))

        return call

    os.fsync, os.replace, os.rename = noted_fsync, noted(replace), noted(rename)


def small_files(bytes: int) -> None:
    """A disk on which no file becomes larger: stands for a full one where none can be mounted."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, bytes))


def address(port: int, sha256: str | None, path: str = "/file.npz") -> None:
    """Publishes dSprites at a local address."""
    from unbraid.data.dsprites import SOURCE

    object.__setattr__(SOURCE, "urls", (f"http://127.0.0.1:{port}{path}",))
    object.__setattr__(SOURCE, "hashes", () if sha256 is None else (f"sha256:{sha256}",))


def address_and_death(port: int, sha256: str | None, folder: str, number: int, count: str) -> None:
    """A local address, and a death at the `number`-th change of a file."""
    address(port, sha256)
    die_at_change(folder, number, count)


def prepare(folder: str) -> None:
    """Makes the files that odd command lines name."""
    from benchmarks.faults.command_lines import prepare as make

    make(Path(folder))


def file_of(path: str) -> Path:
    """A path from a recorded line."""
    return Path(path.removesuffix(" (deleted)"))


PATCHES: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (die_at_change, clock, record_syncs, small_files, address, address_and_death, prepare)
}
