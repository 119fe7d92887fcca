"""Clocks that are set back, power failures, and two writers in one folder."""

import json
from pathlib import Path

from benchmarks.faults.actions import ACTIONS, Action, base
from benchmarks.faults.case import Case
from benchmarks.faults.judge import DidNotSurvive, Kept, check_same
from benchmarks.faults.patches import file_of

BY_NAME = {action.name: action for action in ACTIONS}


def try_clock(case: Case) -> None:
    """A clock that is set back while a command runs: the result is that of a right clock."""
    action = ACTIONS[(case.number * 5 + 1) % len(ACTIONS)]
    while action.downloads:
        action = case.rng.choice(ACTIONS)
    case.tried = action.name
    reference, here = action.reference(case.bench), case.copy_of(base(case.bench))
    case.call(action.words, here, (0,), patch=("clock", {"seed": case.number}))
    check_same("the result", action.result(here), reference.result)
    case.check_files()


def try_power_failure(case: Case) -> None:
    """Each renamed file was synced before the rename, and its folder after it: a power failure loses neither."""
    action = [action for action in ACTIONS if not action.downloads][case.number % (len(ACTIONS) - 1)]
    case.tried = action.name
    here, log = case.copy_of(base(case.bench)), case.folder / "syncs.jsonl"
    case.call(action.words, here, (0,), patch=("record_syncs", {"log": str(log)}))
    unsafe = unsafe_renames([json.loads(line) for line in log.read_text("utf-8").splitlines()], here)
    if unsafe:
        raise DidNotSurvive(f"renamed {len(unsafe)} files without a sync", "\n".join(unsafe[:8]))


def unsafe_renames(events: list[list[str]], folder: Path) -> list[str]:
    """Renames below a folder whose content or name a power failure may lose, from recorded syncs and renames."""
    wrong = []
    for index, (kind, *paths) in enumerate(events):
        if kind != "rename" or not file_of(paths[1]).is_relative_to(folder):
            continue
        source, target = map(file_of, paths)
        if target.is_dir():
            continue  # a folder: its files are judged by themselves
        if ["sync", str(source)] not in events[:index]:
            wrong.append(f"{target.relative_to(folder)}: its content was not synced before the rename")
        if ["sync", str(target.parent)] not in events[index:]:
            wrong.append(f"{target.relative_to(folder)}: its folder was not synced after the rename")
    return wrong


def try_two_writers(case: Case) -> None:
    """Two commands at once in one folder: each ends well or refuses, and the result is that of one command."""
    pairs = [
        *((BY_NAME["extend"], None), (BY_NAME["train beta-vae"], None), (BY_NAME["study"], None)),
        *((BY_NAME["evaluate"], SCORES), (BY_NAME["evaluate"], None), (BY_NAME["download"], None)),
        *((BY_NAME["report"], None), (BY_NAME["export"], None), (BY_NAME["extend"], EXTENDED)),
        *((BY_NAME["encode"], None), (BY_NAME["train gin"], None), (BY_NAME["evaluate"], LONGER)),
    ]
    action, other = pairs[case.number % len(pairs)]
    case.tried = f"{action.name} and {' '.join((other or action.words)[:1])}"
    reference, here = action.reference(case.bench), case.copy_of(base(case.bench))
    if other == LONGER:
        _train_longer(case, action, here)
        return
    first = case.start(action.words, here, patch=action.plain_patch(case.bench))
    first.ends_within(case.rng.choice((0.0, 0.0, case.rng.uniform(0.0, reference.seconds))))
    second = case.start(other or action.words, here, patch=action.plain_patch(case.bench))
    ends = [case.end(running) for running in (first, second)]
    if all(ended.code for ended in ends):
        raise DidNotSurvive("refused both commands", "\n".join(ended.last_lines for ended in ends))
    if ends[0].code == 0 or other is None:
        result = action.result(here)
        check_same("the result", {key: result.get(key) for key in reference.result}, reference.result)
    if other == SCORES and not any(ended.code for ended in ends):
        missing = {"explicitness", "mig"} - action.result(here).keys()
        if missing:
            raise DidNotSurvive(f"lost the scores {', '.join(sorted(missing))} of one of two evaluations")
    case.check_files()


def _train_longer(case: Case, action: Action, here: Path) -> None:
    """A finished run is trained further while it is evaluated: afterwards it is finished, with scores or without."""
    words = ["train", "--config", "run/plan.json", "--out", "run", "--device", "cpu", "--quiet", "--resume"]
    first = case.start([*words, "--steps", "12"], here)
    first.ends_within(case.rng.uniform(0.0, 0.6))
    second = case.start(action.words, here)
    case.end(first)
    case.end(second)
    case.call(["evaluate", "run", "--metrics", "kl", "--num-samples", "60"], here, (0,))
    Kept.of(here).check()
    case.check_files()


SCORES = ("evaluate", "run", "--metrics", "explicitness", "--num-samples", "400")
EXTENDED = ("evaluate", "unfinished", "--metrics", "kl", "--num-samples", "60")
LONGER = ("train",)
