"""Tries many faults and prints what survived.

    python -m benchmarks.faults                      the standard harness (at most 10 minutes on 2 cores)
    python -m benchmarks.faults --short              two minutes
    python -m benchmarks.faults --full               an hour; interrupt it at will, it goes on where it was
    python -m benchmarks.faults --case kills/17      one case again, from its seed
    python -m benchmarks.faults --family kills       one family
    python -m benchmarks.faults --full --again       the failed cases of the last run again
    python -m benchmarks.faults --full --write-docs  the table of the last run into docs/reliability.md

Outcomes are written to build/faults/SIZE.jsonl. A case that was tried is not tried again with --full. The exit code is
1 if a case has failed.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from benchmarks.faults.case import Bench, Case, Family, NotHere
from benchmarks.faults.families import FAMILIES
from benchmarks.faults.judge import DidNotSurvive
from benchmarks.faults.processes import ROOT, ForkedCommands
from benchmarks.faults.results import (
    FAILED,
    NOT_HERE,
    SURVIVED,
    Outcome,
    Results,
    commit,
    table,
    today,
    write_docs,
)

SIZES = ("short", "standard", "full")


def main(words: Sequence[str] | None = None) -> int:
    """Runs the harness; returns the exit code."""
    options = _options().parse_args(words)
    size = "full" if options.full else "short" if options.short else "standard"
    path = options.results or ROOT / "build" / "faults" / f"{size}.jsonl"
    names = _chosen(options, size)
    one_by_one = options.case is not None
    if one_by_one:
        path = path.with_name("case.jsonl")
    if not (options.full or options.go_on or options.again or options.write_docs):
        path.unlink(missing_ok=True)
    results = Results(path)
    if options.write_docs:
        write_docs(results, FAMILIES, size)
        return 0
    if options.again:
        names = [outcome.case for outcome in results.failures]
    elif not one_by_one:
        names = [name for name in names if name not in results.outcomes]
    _run(names, results, options)
    print(table(results, FAMILIES))
    _print_failures(results)
    return int(bool(results.failures))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="thousands of cases; finished ones are skipped")
    parser.add_argument("--short", action="store_true", help="two minutes")
    parser.add_argument("--family", action="append", choices=[family.name for family in FAMILIES])
    parser.add_argument("--case", metavar="FAMILY/NUMBER", help="one case, with all that it printed")
    parser.add_argument("--jobs", type=int, default=2, help="cases at once")
    parser.add_argument("--minutes", type=float, help="start no case after this time")
    parser.add_argument("--results", type=Path, help="file of outcomes")
    parser.add_argument("--go-on", action="store_true", help="skip cases that were tried, as --full does")
    parser.add_argument("--again", action="store_true", help="try the failed cases again")
    parser.add_argument("--keep", action="store_true", help="keep the folders of failed cases")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/reliability.md")
    return parser


def _chosen(options: argparse.Namespace, size: str) -> list[str]:
    """The names of the cases, in an order in which families take turns."""
    if options.case:
        return [options.case]
    column = SIZES.index(size)
    chosen = [family for family in FAMILIES if not options.family or family.name in options.family]
    places = [
        ((number + 0.5) / family.counts[column], index, f"{family.name}/{number}")
        for index, family in enumerate(chosen)
        for number in range(family.counts[column])
    ]
    return [name for _, _, name in sorted(places)]


def _run(names: Sequence[str], results: Results, options: argparse.Namespace) -> None:
    """Tries the cases, several at once, and notes each outcome."""
    folder = Path(tempfile.mkdtemp(prefix="unbraid-faults-"))
    print(f"{len(names)} cases in {folder}; outcomes in {results.path}", file=sys.stderr, flush=True)
    start, shown, version = time.monotonic(), 0.0, commit()
    families = {family.name: family for family in FAMILIES}
    try:
        with ForkedCommands(folder) as forked, ThreadPoolExecutor(options.jobs) as threads:
            bench = Bench(folder, forked)

            def attempt(name: str) -> Outcome | None:
                if options.minutes and time.monotonic() - start > 60 * options.minutes:
                    return None
                family, _, number = name.partition("/")
                return try_case(families[family], int(number), bench, version)

            waiting = [threads.submit(attempt, name) for name in names]
            for done, future in enumerate(as_completed(waiting), start=1):
                outcome = future.result()
                if outcome is None:
                    continue
                results.add(outcome)
                if outcome.state == FAILED:
                    print(f"{outcome.case}: {outcome.tried}: {outcome.reason}", file=sys.stderr, flush=True)
                if time.monotonic() - shown > 20:
                    shown = time.monotonic()
                    print(f"{done}/{len(names)} cases, {shown - start:.0f} s", file=sys.stderr, flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def try_case(family: Family, number: int, bench: Bench, version: str) -> Outcome:
    """Tries one case; whatever goes wrong, also in the harness, is a failure of the case."""
    start, state, reason, last_lines = time.monotonic(), SURVIVED, "", ""
    case = Case(family.name, number, bench)
    try:
        with case:
            family.attempt(case)
    except DidNotSurvive as failure:
        last_lines = failure.last_lines or (case.commands[-1].last_lines if case.commands else "")
        state, reason = FAILED, failure.reason
    except NotHere as missing:
        state, reason = NOT_HERE, str(missing)
    except Exception as error:
        state, reason = FAILED, f"{type(error).__name__}: {error}"
        last_lines = traceback.format_exc()[-2000:]
    seconds = round(time.monotonic() - start, 2)
    return Outcome(case.name, state, case.tried, reason, last_lines, seconds, version, today())


def _print_failures(results: Results) -> None:
    for outcome in results.failures:
        print(f"\n{outcome.case}: {outcome.reason}\n  tried: {outcome.tried}")
        print("\n".join(f"    {line}" for line in outcome.last_lines.splitlines()))
        print(f"  again: python -m benchmarks.faults --case {outcome.case}")


if __name__ == "__main__":
    random.seed(0)
    sys.exit(main())
