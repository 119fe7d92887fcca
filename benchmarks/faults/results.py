"""The outcomes of cases as JSON lines, the table of them, and the same table in the documentation."""

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.faults.case import Family
from benchmarks.faults.processes import ROOT

SURVIVED, FAILED, NOT_HERE = "survived", "failed", "not here"
PAGE = ROOT / "docs" / "reliability.md"
START, END = "<!-- table: start -->", "<!-- table: end -->"


@dataclass(frozen=True)
class Outcome:
    """What became of one case.

    Args:
        case: Family and number.
        state: survived, failed, or not here (this machine cannot try it).
        tried: What was tried, in a few words.
        reason: Why it failed.
        last_lines: What the command printed at the end.
        seconds: Duration.
        commit: The commit that was tried.
        date: The day.
    """

    case: str
    state: str
    tried: str
    reason: str
    last_lines: str
    seconds: float
    commit: str
    date: str

    @property
    def family(self) -> str:
        return self.case.partition("/")[0]


class Results:
    """The file of outcomes; a later line about a case replaces an earlier one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.outcomes: dict[str, Outcome] = {}
        self.machine = machine()
        for line in path.read_text("utf-8").splitlines() if path.exists() else []:
            try:
                content = json.loads(line)
            except ValueError:  # the harness was killed while it wrote
                continue
            if "machine" in content:
                self.machine = content["machine"]
            else:
                self.outcomes[content["case"]] = Outcome(**content)
        if not self.outcomes:
            self._write({"machine": self.machine})

    def add(self, outcome: Outcome) -> None:
        self.outcomes[outcome.case] = outcome
        self._write(asdict(outcome))

    def _write(self, content: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" * (file.tell() > 0 and not self._ends_a_line()) + json.dumps(content) + "\n")

    def _ends_a_line(self) -> bool:
        return self.path.read_bytes()[-1:] == b"\n"

    @property
    def failures(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes.values() if outcome.state == FAILED]


def machine() -> str:
    """The hardware and the versions, in one line."""
    names = [
        line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")
    ]
    memory = [int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")]
    cores = len(os.sched_getaffinity(0))
    parts = [f"{cores} cores of {names[0] if names else platform.processor() or platform.machine()}"]
    parts += [f"{kilobytes / 2**20:.0f} GiB of memory" for kilobytes in memory]
    parts += [f"{platform.system()} {platform.release().partition('-')[0]}"]
    return ", ".join([*parts, f"Python {platform.python_version()}", f"torch {version('torch')}"])


def commit() -> str:
    """The short hash of the commit, with + if files differ from it."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no", "--", "src") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def table(results: Results, families: Sequence[Family]) -> str:
    """One row for each family: what was tried, how often, what survived."""
    rows = [("family", "what was tried", "cases", "survived", "failed")]
    for family in families:
        states = [outcome.state for outcome in results.outcomes.values() if outcome.family == family.name]
        counts = [states.count(state) for state in (SURVIVED, FAILED)]
        if states:
            left_out = states.count(NOT_HERE)
            what = f"{family.what} ({left_out} not tried on this machine)" if left_out else family.what
            rows.append((family.name, what, str(sum(counts)), *map(str, counts)))
    totals = [sum(int(row[column]) for row in rows[1:]) for column in (2, 3, 4)]
    rows.append(("all", "", *map(str, totals)))
    return "\n".join(_markdown(rows))


def _markdown(rows: Sequence[tuple[str, ...]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for index, row in enumerate(rows):
        cells = [
            f"{cell:>{width}}" if column > 1 else f"{cell:<{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"| {' | '.join(cells)} |"
        if index == 0:
            rules = [
                "-" * (width - 1) + ":" if column > 1 else "-" * width for column, width in enumerate(widths)
            ]
            yield f"| {' | '.join(rules)} |"


def write_docs(results: Results, families: Sequence[Family], size: str, page: Path = PAGE) -> None:
    """Puts the table, its date and its hardware into the page, in the place of the earlier ones."""
    text = page.read_text("utf-8")
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"{page} lacks {START} or {END}.")
    outcomes = results.outcomes.values()
    dates = sorted({outcome.date for outcome in outcomes})
    commits = sorted({outcome.commit for outcome in outcomes})
    hours = sum(outcome.seconds for outcome in outcomes) / 3600
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    about = f"The {size} harness, {when}, on {results.machine}; commit {', '.join(commits)}; "
    about += f"{hours:.1f} hours of cases."
    page.write_text(f"{before}{start}\n{about}\n\n{table(results, families)}\n{end}{after}", "utf-8")


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8").splitlines()
    except OSError:
        return []


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()
