"""Kills and signals at random moments, then the same command again."""

import json
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.faults.actions import ACTIONS, Action, base
from benchmarks.faults.case import LIMIT, Case
from benchmarks.faults.judge import DidNotSurvive, Kept, check_same, fault_of, judge
from benchmarks.faults.processes import Running

STARTING = 3.0  # seconds in which a new process imports PyTorch
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def try_kills(case: Case) -> None:
    """Up to three kills: before a random change of a file, or after a random time."""
    action, reference, here = _prepare(case)
    before, finished = Kept.of(here), {}
    for turn in range(case.rng.choice((1, 1, 2, 3))):
        words = action.continuing if turn else action.words
        if case.rng.random() < 0.6 and reference.changes:
            number = case.rng.randint(1, reference.changes)
            case.tried += f"; killed at change {number} of {reference.changes}"
            patch = action.patch(case.bench, here, number, case.folder / "count")
            ended = case.start(words, here, patch=patch).wait(LIMIT)
        else:
            delay = case.rng.uniform(0.0, 1.1 * reference.seconds)
            case.tried += f"; killed after {delay:.2f} s"
            running = case.start(words, here, patch=action.plain_patch(case.bench))
            if not running.ends_within(delay):
                running.signal(signal.SIGKILL)
            ended = running.wait(LIMIT)
        if ended.code != -signal.SIGKILL or ended.timed_out:
            judge(ended, (0,))
        if action.file and (here / action.file).exists():
            check_same("what was written before the kill", action.result(here), reference.result)
        _check_kept(action, here, finished)
        finished = (
            _finished(action, here) if ended.code else {}
        )  # a command that has ended may do it all again
    case.call(action.continuing, here, (0,), patch=action.plain_patch(case.bench))
    _check_kept(action, here, finished)
    check_same("the result", action.result(here), reference.result)
    before.check(action.outputs)
    case.check_files()


def try_signals(case: Case) -> None:
    """Ctrl-C, SIGTERM or SIGHUP after a random time: the promised exit code, a sentence, and nothing lost.

    Every third command runs in an interpreter of its own, which gets the signal while it imports PyTorch or soon after.
    """
    action, reference, here = _prepare(case)
    before = Kept.of(here)
    number = case.rng.choice(list(SIGNALS))
    delay = case.rng.uniform(0.0, 1.1 * reference.seconds)
    fresh = case.number % 3 == 0 and not action.downloads
    if fresh:
        delay = case.rng.uniform(0.0, STARTING)
    when = " of a new process" if fresh else ""
    case.tried += f"; {signal.Signals(number).name} after {delay:.2f} s{when}"
    running = case.start(action.words, here, patch=action.plain_patch(case.bench), fresh=fresh)
    if fresh:
        _wait_for_handlers(running)
    if not running.ends_within(delay):
        running.signal(number)
    ended = running.wait(LIMIT)
    case.commands.append(ended)
    # The system ends a process without a handler, which a shell shows as the same code. Training has a handler.
    by_system = (
        not fresh
        and ended.code == -number != -signal.SIGINT
        and (action.words[0] != "train" or not ended.err)
    )
    if not by_system and (reason := fault_of(ended, (0, SIGNALS[number]))) is not None:
        raise DidNotSurvive(reason, ended.last_lines)
    finished = _finished(action, here) if ended.code else {}
    case.call(action.continuing, here, (0,), patch=action.plain_patch(case.bench))
    _check_kept(action, here, finished)
    check_same("the result", action.result(here), reference.result)
    before.check(action.outputs)
    case.check_files()


def _wait_for_handlers(running: Running) -> None:
    """Waits until a new process handles SIGTERM: what happens before is Python's."""
    handled, end = 0, time.monotonic() + LIMIT
    while not handled & 1 << (signal.SIGTERM - 1) and running.is_running and time.monotonic() < end:
        with suppress(OSError):  # it has ended meanwhile
            status = Path(f"/proc/{running.pid}/status").read_text()
            handled = int(status.partition("SigCgt:")[2].split()[0], 16)
        time.sleep(0.002)


def _prepare(case: Case) -> tuple[Action, Any, Path]:
    action = ACTIONS[case.number % len(ACTIONS)]
    case.tried = action.name
    return action, action.reference(case.bench), case.copy_of(base(case.bench))


def _finished(action: Action, here: Path) -> dict[str, Any]:
    """What is done and must not be done again: scores with their times, and the weights of finished runs."""
    done: dict[str, Any] = {}
    if action.name == "evaluate":
        path = here / "run" / "scores.json"
        for score in json.loads(path.read_text("utf-8")) if path.exists() else []:
            done[score["metric"]] = score
    if action.name == "study":
        for path in here.glob("study/runs/*/finished.json"):
            weights = path.with_name("model.safetensors").stat()
            done[path.parent.name] = (weights.st_ino, weights.st_mtime_ns)
    return done


def _check_kept(action: Action, here: Path, finished: dict[str, Any]) -> None:
    now = _finished(action, here)
    for name, was in finished.items():
        if name not in now:
            raise DidNotSurvive(f"lost {name}, which was done")
        if now[name] != was:
            raise DidNotSurvive(f"did {name} twice")
