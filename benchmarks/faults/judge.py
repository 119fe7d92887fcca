"""What a command may never do: print a traceback, die, hang, lose a file, run code from a file, write invalid JSON."""

import hashlib
import json
import re
import signal
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.faults.processes import Ended

MARK = "code-ran"  # a file of this name is left behind by planted code
MAX_MEGABYTES = 3_000
FORBIDDEN = (
    "Traceback (most recent call last)",
    "Internal error in Unbraid",
    "a fault in Unbraid",
    "[Errno ",
)
REFUSALS = {
    "ValueError",
    "OSError",
    "FileNotFoundError",
    "PermissionError",
    "FloatingPointError",
}  # of failed runs
JSON_FILES = {".json", ".jsonl"}


class DidNotSurvive(Exception):
    """What a command did wrong, and its last lines."""

    def __init__(self, reason: str, last_lines: str = "") -> None:
        super().__init__(reason)
        self.reason, self.last_lines = reason, last_lines


def judge(ended: Ended, codes: Collection[int] = (0, 2)) -> Ended:
    """Raises if a command printed a traceback, died of a signal, hung, or ended with a code that is not allowed."""
    if (reason := fault_of(ended, codes)) is not None:
        raise DidNotSurvive(reason, ended.last_lines)
    return ended


def fault_of(ended: Ended, codes: Collection[int] = (0, 2)) -> str | None:
    """What is wrong with the end of a command; None if nothing is."""
    if ended.timed_out:
        return f"did not end within its limit ({ended.seconds:.0f} s)"
    for words in FORBIDDEN:
        if words in ended.err or words in ended.out:
            return f"printed {words!r}"
    if ended.code < 0:
        return f"died of {signal.Signals(-ended.code).name}"
    if ended.code == 1 and ended.words[:1] == ("study",) and "runs failed:" in ended.err:
        kinds = (
            set(re.findall(r"failed: (\w+): ", ended.err)) - REFUSALS
        )  # exit code 1 is what docs/studies.md promises
        return f"had a run that failed with {', '.join(sorted(kinds))}" if kinds else None
    if ended.code not in codes:
        return f"ended with code {ended.code}, not {' or '.join(map(str, codes))}"
    if ended.code and not ended.err.strip():
        return f"ended with code {ended.code} without a word"
    if ended.peak_megabytes > MAX_MEGABYTES:
        return f"used {ended.peak_megabytes} MB of memory"
    if ended.code == 0 and "--json" in ended.words and not is_json(ended.out):
        return "printed something that is not valid JSON"
    return None


def is_json(text: str) -> bool:
    """Whether a text is JSON, which has no NaN and no infinity."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass(frozen=True)
class Kept:
    """The files of a folder as they were, by their path inside it: a hash each.

    Args:
        folder: The folder.
        hashes: The hash of each file.
    """

    folder: Path
    hashes: dict[str, str]

    @classmethod
    def of(cls, folder: Path) -> "Kept":
        return cls(folder, dict(_hashes(folder)))

    def check(self, but: Iterable[str] = ()) -> None:
        """Raises if a file is missing or changed, except where its path starts with one of `but`.

        A score that was there must still be there, so that scores.json may grow.
        """
        now, allowed = dict(_hashes(self.folder)), tuple(but)
        for name, digest in self.hashes.items():
            if (allowed and name.startswith(allowed)) or now.get(name) == digest:
                continue
            raise DidNotSurvive(f"{'changed' if name in now else 'lost'} the file {name}")


def check_json(folder: Path, before: Kept | None = None) -> None:
    """Raises if a file of JSON that was written is not valid; those that were there before are left alone."""
    old = {} if before is None else before.hashes
    for name, digest in _hashes(folder):
        path = folder / name
        if path.suffix not in JSON_FILES or old.get(name) == digest:
            continue
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        documents = [line for line in text.splitlines() if line] if path.suffix == ".jsonl" else [text]
        if not all(map(is_json, documents)):
            raise DidNotSurvive(f"wrote {name}, which is not valid JSON")


def check_no_code_ran(folder: Path) -> None:
    """Raises if planted code has left its mark."""
    for path in folder.rglob(MARK):
        raise DidNotSurvive(f"ran code from a file: it left {path.relative_to(folder)}")


def check_same(what: str, found: Any, expected: Any) -> None:
    """Raises unless two results are equal."""
    if found != expected:
        raise DidNotSurvive(
            f"{what} differs from that of an undisturbed command: {_difference(found, expected)}"
        )


def _difference(found: Any, expected: Any) -> str:
    if isinstance(found, dict) and isinstance(expected, dict):
        keys = sorted(key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key))
        return ", ".join(map(str, keys))[:300]
    return f"{found!r:.150} instead of {expected!r:.150}"


def _hashes(folder: Path) -> Iterable[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield str(path.relative_to(folder)), hashlib.sha256(path.read_bytes()).hexdigest()
