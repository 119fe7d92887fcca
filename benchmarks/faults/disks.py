"""Full and read-only disks: small file systems in memory, where the system lets us mount them."""

import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.faults.actions import ACTIONS, base
from benchmarks.faults.case import Case, NotHere
from benchmarks.faults.judge import Kept, check_same

PAGE = 4  # kilobytes


def try_full_disk(case: Case) -> None:
    """A disk that becomes full at a random moment; then there is room again, and the same command ends."""
    action = ACTIONS[(case.number * 7) % len(ACTIONS)]
    reference, origin = action.reference(case.bench), base(case.bench)
    free = round(case.rng.uniform(0.0, 1.2) * reference.kilobytes / PAGE) * PAGE
    case.tried = f"{action.name}; disk full after {free} KB of {reference.kilobytes}"
    used = sum(-(-max(path.lstat().st_size, 1) // 4096) * PAGE for path in origin.rglob("*")) + PAGE
    try:
        with disk(case.folder / "disk", used + free) as mounted:
            here = Path(shutil.copytree(origin, mounted / "here", symlinks=True))
            before = Kept.of(here)
            case.call(action.words, here, patch=action.plain_patch(case.bench))
            before.check(action.outputs)
            case.check_files()
            _mount("-o", f"remount,size={used + 100_000}k", str(mounted))
            case.call(action.continuing, here, (0,), patch=action.plain_patch(case.bench))
            check_same("the result", action.result(here), reference.result)
            before.check(action.outputs)
            case.check_files()
    except NotHere:
        _try_small_files(case)


def _try_small_files(case: Case) -> None:
    """Without mounts: a limit on the size of a file, which refuses the same writes."""
    actions = [action for action in ACTIONS if not action.downloads]
    action = actions[(case.number * 7) % len(actions)]
    reference, here = action.reference(case.bench), case.copy_of(base(case.bench))
    limit = case.rng.randrange(100, 500_000)
    case.tried = f"{action.name}; no file above {limit} bytes"
    before = Kept.of(here)
    case.call(action.words, here, patch=("small_files", {"bytes": limit}))
    before.check(action.outputs)
    case.call(action.continuing, here, (0,))
    check_same("the result", action.result(here), reference.result)


def try_read_only(case: Case) -> None:
    """A folder on a read-only disk: commands that read it work, and the others refuse."""
    action = case.rng.choice(ACTIONS)
    elsewhere = case.rng.random() < 0.3
    case.tried = f"{action.name}{'; output elsewhere' if elsewhere else ''}"
    origin = base(case.bench)
    with disk(case.folder / "disk", 50_000) as mounted:
        here = Path(shutil.copytree(origin, mounted / "here", symlinks=True))
        before = Kept.of(here)
        words = list(action.words)
        if elsewhere and "--out" in words:
            words[words.index("--out") + 1] = str(
                case.folder / "home" / random.Random(case.name).choice("ab")
            )
        _mount("-o", "remount,ro", str(mounted))
        case.call(words, here, patch=action.plain_patch(case.bench))
        before.check()
        case.check_files()


@contextmanager
def disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of some kilobytes."""
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


def _mount(*words: str) -> None:
    try:
        done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise NotHere("there is no `mount`") from None
    if done.returncode:
        raise NotHere(f"nothing can be mounted ({done.stderr.strip()})")
