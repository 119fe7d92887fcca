"""Odd command lines: each ends well or is refused in a sentence, and nothing that was there is lost."""

import random
from itertools import pairwise
from pathlib import Path

from benchmarks.faults.case import Bench, Case
from benchmarks.faults.command_lines import ENVIRONMENT, command_lines
from benchmarks.faults.judge import Kept

FRESH = 25  # each so many-th line runs in an interpreter of its own


def try_command_line(case: Case) -> None:
    """One odd command line in a copy of a folder with a run, a study and data."""
    origin = case.bench.once("places", lambda folder: _make(case.bench, folder))
    here = case.copy_of(origin)
    words = next(command_lines(random.Random(case.name)))
    case.tried = " ".join(words)[:200]
    if any("\0" in word for word in words):
        words = [word.replace("\0", "") for word in words]
    before = Kept.of(here)
    fresh = case.number % FRESH == 0
    ended = case.call(words, here, variables=ENVIRONMENT, fresh=fresh, limit=180.0)
    before.check(_outputs(words, here) if ended.code == 0 else ())
    case.check_files(before)


def _make(bench: Bench, folder: Path) -> Path:
    with Case("places", 0, bench) as case:
        case.call(["--version"], folder, (0,), patch=("prepare", {"folder": str(folder)}))
    return folder


def _outputs(words: list[str], here: Path) -> list[str]:
    """The files that a line which ended well may change: what the command writes into a run, and what was named."""
    written = [
        "run/scores.json",
        "run/report.html",
        "run/figures",
        "run/explorer.html",
        "run/export-",
        "run/.",
    ]
    written += ["study/.", "study/report.html", "study/figures", "study/comparison", "made/"]
    for word in [*words, *(word.partition("=")[2] for word in words)]:
        path = Path(word) if word and len(word) < 200 else None
        if path is not None and not path.is_absolute() and ".." not in path.parts and (here / path).is_file():
            if words[0] != "train" and not _is_output(words, word):
                continue
            written.append(str(path))
    if "--resume" in words:
        written.append("run/")
    return written


def _is_output(words: list[str], word: str) -> bool:
    """Whether a word is the value of an option that names what to write."""
    for option in ("--out", "--output", "--output-dir", "-o"):
        if f"{option}={word}" in words:
            return True
        if any(pair == (option, word) for pair in pairwise(words)):
            return True
    return False
