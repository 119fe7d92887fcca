"""Damaged run folders: each command ends well or refuses in one sentence, and touches nothing else."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.faults.actions import base
from benchmarks.faults.case import Case
from benchmarks.faults.damage import damage_bytes, damage_json
from benchmarks.faults.judge import MARK, DidNotSurvive, Kept, is_json

READING = (  # commands that read a run; `{run}` is its folder
    *("evaluate {run} --metrics kl --num-samples 60 --json", "evaluate {run} --num-samples 60"),
    *("encode {run} images --out codes.npz", "edit {run} images/a.png --zero 0 --out sheet.png"),
    *("export {run} --format safetensors --out exported", "export {run} --format torchscript --out exported"),
    *("report {run} --out page.html", "explore {run} --examples 4 --no-open --out page.html"),
    *("compare {run} table", "train --config {run}/plan.json --out new --quiet", "{resume}"),
)
WRITTEN = (
    "scores.json",
    "report.html",
    "figures",
    "explorer.html",
    ".",
)  # what commands that read a run may write
PLANTED = "import pathlib; pathlib.Path('{mark}').touch()\nclass Evil: ...\ndef evil(*a, **k): ...\n"


def try_damaged_folder(case: Case) -> None:
    """One or two files of a run are damaged; then one or two commands read it."""
    here = case.copy_of(base(case.bench))
    run = here / case.rng.choice(("run", "run", "table", "unfinished"))
    case.tried = f"{run.name}: "
    damages = (*(_damage_some_file,) * 6, _plant_code, _exchange, _remove)
    for _ in range(case.rng.choice((1, 1, 1, 2))):
        case.tried += f"{case.rng.choice(damages)(run, case.rng)}; "
    before = Kept.of(here)
    for command in case.rng.sample(READING, case.rng.choice((1, 2))):
        words = _words(command, run)
        case.tried += f"unbraid {words[0]}; "
        ended = case.call(words, here)
        resumes = "--resume" in words
        allowed = [f"{run.name}/{name}" for name in WRITTEN] if not resumes else [f"{run.name}/"]
        before.check(
            [*allowed, "codes.npz", "sheet.png", "exported", "page.html", "new"]
            if ended.code == 0
            else [f"{run.name}/.", *([f"{run.name}/scores.json"] if words[0] == "evaluate" else [])]
        )
        case.check_files(before)
        before = Kept.of(here)


def try_flipped_bit(case: Case) -> None:
    """One bit of the weights, a checkpoint, the history or the scores: refused, or without effect."""
    name, command = case.rng.choice(
        (
            ("run/model.safetensors", "evaluate run --metrics kl,reconstruction --num-samples 60 --json"),
            ("run/model.safetensors", "encode run images --out codes.npz"),
            ("run/model.safetensors", "export run --format safetensors --out exported"),
            ("unfinished/checkpoint.safetensors", "{resume}"),
            (
                "run/checkpoint.safetensors",
                "train --config run/plan.json --out run --quiet --resume --steps 9",
            ),
            ("unfinished/history.jsonl", "{resume}"),
            ("run/scores.json", "evaluate run --metrics mig --num-samples 60 --json"),
        )
    )
    here = case.copy_of(base(case.bench))
    words = _words(command, here / name.partition("/")[0])
    path, folder = here / name, here / name.partition("/")[0]
    content = bytearray(path.read_bytes())
    position, bit = case.rng.randrange(len(content)), case.rng.randrange(8)
    content[position] ^= 1 << bit
    path.write_bytes(content)
    case.tried = f"bit {bit} of byte {position} of {name}; unbraid {words[0]}"
    before = Kept.of(here)
    ended = case.call(words, here)
    if ended.code:
        before.check([f"{folder.name}/."])
    elif path.suffix == ".safetensors":
        raise DidNotSurvive("used weights with a flipped bit", ended.last_lines)
    case.check_files(before)
    if (
        name == "run/checkpoint.safetensors"
    ):  # the finished model stays usable, whatever happens to an extension
        case.call(["evaluate", "run", "--metrics", "kl", "--num-samples", "60"], here, (0,))


def try_torn_file(case: Case) -> None:
    """A file of a run ends in the middle, as after a crash of another program that copied it."""
    here = case.copy_of(base(case.bench))
    run = here / case.rng.choice(("run", "table", "unfinished"))
    path = case.rng.choice(
        sorted(path for path in run.rglob("*") if path.is_file() and path.stat().st_size > 1)
    )
    content = path.read_bytes()
    length = case.rng.randrange(len(content))
    path.write_bytes(content[:length])
    command = case.rng.choice(READING)
    words = _words(command, run)
    case.tried = f"{path.relative_to(here)} cut to {length} of {len(content)} bytes; unbraid {words[0]}"
    before = Kept.of(here)
    ended = case.call(words, here)
    if ended.code:
        before.check([f"{run.name}/."])
    elif path.name == "model.safetensors" and words[0] in ("evaluate", "encode", "edit", "export"):
        raise DidNotSurvive("used weights that end in the middle", ended.last_lines)
    case.check_files(before)


def _words(command: str, run: Path) -> list[str]:
    resume = "train --config {run}/plan.json --out {run} --quiet --resume --device cpu"
    words = command.replace("{resume}", resume).replace("{run}", run.name).split()
    return ["rows.csv" if word == "images" and run.name == "table" else word for word in words]


def _damage_some_file(run: Path, rng: random.Random) -> str:
    files = sorted(path for path in run.rglob("*") if path.is_file() and not path.name.startswith("."))
    path = rng.choice(files)
    text = path.suffix in (".json", ".jsonl")
    damage: Callable[[Path, random.Random], str] = (
        damage_json if text and rng.random() < 0.85 else damage_bytes
    )
    if text and not _documents(path):
        damage = damage_bytes
    return f"{path.relative_to(run)}: {damage(path, rng)}"


def _documents(path: Path) -> bool:
    """Whether a file that an earlier damage may have changed is still JSON."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return False
    return all(map(is_json, text.splitlines() if path.suffix == ".jsonl" else [text]))


def _plant_code(run: Path, rng: random.Random) -> str:
    """Code beside and inside the run, named in its files or hidden in a pickle."""
    code = PLANTED.format(mark=MARK)
    for folder in (run, run.parent):
        (folder / "evil.py").write_text(code, "utf-8")
    kind = rng.choice(("method", "dataset", "network", "metric", "weights", "checkpoint"))
    if kind in ("weights", "checkpoint"):
        name = {"weights": "model.safetensors", "checkpoint": "checkpoint.safetensors"}[kind]
        if (run / name).is_dir():  # by an earlier damage
            shutil.rmtree(run / name)
        (run / name).write_bytes(f"cposix\nsystem\n(S'touch {MARK}'\ntR.".encode())
        return f"a pickle as {name}"
    reference = rng.choice(
        ("evil.py:Evil", "evil:Evil", f"{run.name}/evil.py:Evil", "evil.Evil", "os:system")
    )
    for name in ("run.json", "plan.json", "scores.json"):
        path = run / name
        if path.is_file() and _documents(path):
            content = json.loads(path.read_text("utf-8"))
            path.write_text(json.dumps(_renamed(content, kind, reference)), "utf-8")
    return f"{reference} as {kind}"


def _renamed(value: Any, kind: str, reference: str) -> Any:
    """The document with its names of one kind replaced."""
    keys = {
        "method": ("method", "name"),
        "dataset": ("data", "name", "origin"),
        "network": ("network", "architecture"),
        "metric": ("metric",),
    }
    if isinstance(value, list):
        return [_renamed(item, kind, reference) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: reference if key in keys[kind] and isinstance(item, str) else _renamed(item, kind, reference)
        for key, item in value.items()
    }


def _exchange(run: Path, rng: random.Random) -> str:
    """A file of another run."""
    other = run.parent / rng.choice([name for name in ("run", "table", "unfinished") if name != run.name])
    names = sorted({path.name for path in run.glob("*.*")} & {path.name for path in other.glob("*.*")})
    name = rng.choice([name for name in names if (other / name).is_file()])
    target = run / name
    if target.is_dir():
        shutil.rmtree(target)
    shutil.copy(other / name, target)
    return f"{name} of {other.name}"


def _remove(run: Path, rng: random.Random) -> str:
    """Several files are missing."""
    files = [path for path in sorted(run.glob("*.*")) if path.is_file()]
    gone = rng.sample(files, min(len(files), rng.choice((2, 3))))
    for path in gone:
        path.unlink()
    return f"without {', '.join(path.name for path in gone)}"
