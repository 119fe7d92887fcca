"""Commands that are disturbed: one training for each family of methods, and everything else that writes.

Each is run once undisturbed. What it leaves behind then is what it must leave behind in the end after kills, a full
disk, another writer or a wrong clock.
"""

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from PIL import Image

from benchmarks.faults.case import Bench, Case
from benchmarks.faults.judge import DidNotSurvive
from benchmarks.faults.server import FILE, published_hash, serving

SMALL = ("--image-size", "16", "--latent-dim", "3", "--architecture", "mlp-small")
STUDY = '''"""Six tiny runs."""

from unbraid import Plan
from unbraid.studies import replace

OPTIONS = {"image_size": 16, "latent_dim": 3, "architecture": "mlp-small", "steps": 40, "batch_size": 4}
PLAN = Plan("beta-vae", "sprites", OPTIONS, metrics=("reconstruction", "kl", "mig"), evaluation={"num_samples": 60})
runs = [replace(PLAN, beta=beta, seed=seed) for beta in (1.0, 4.0) for seed in (0, 1, 2)]
'''
TRAININGS = {  # one method of each family, with a draw or a loop of its own
    "beta-vae": ("sprites", 200, (*SMALL, "--val-fraction", "0.2", "--val-every", "40")),
    "cnn": ("credit", 200, ("--observations", "60", "--architecture", "mlp", "--feature-dim", "8")),
    "principled-contrast": (
        "hidden-groups",
        120,
        ("--architecture", "mlp-small", "--likelihood", "normal:1"),
    ),
    "gin": ("mixture", 120, ()),
    "ada-gvae": ("sprites", 150, SMALL),
    "simclr": ("sprites", 60, ("--image-size", "16", "--architecture", "mlp")),
    "intervention": ("sprites", 100, ("--image-size", "16", "--architecture", "mlp-small")),
    "infogan": ("sprites", 16, ("--image-size", "16")),
    "contrastive-pca": ("hidden-groups", 60, ("--architecture", "mlp-small")),
}


@dataclass(frozen=True)
class Reference:
    """What an undisturbed command left behind.

    Args:
        result: What to compare.
        changes: Number of changes of files.
        seconds: Duration.
        kilobytes: Size of what it wrote.
    """

    result: dict[str, Any]
    changes: int
    seconds: float
    kilobytes: int


@dataclass(frozen=True)
class Action:
    """One command that writes, for a copy of the folder that `base` makes.

    Args:
        name: Name in the table.
        words: The command line.
        outputs: Beginnings of the paths that it may change.
        result: What it left behind, to compare, from the folder.
        again: The command line that continues; empty: the same.
        file: The one file that it writes, whole or not at all.
    """

    name: str
    words: tuple[str, ...]
    outputs: tuple[str, ...]
    result: Callable[[Path], dict[str, Any]]
    again: tuple[str, ...] = field(default=())
    file: str = ""

    @property
    def continuing(self) -> tuple[str, ...]:
        return self.again or self.words

    @property
    def downloads(self) -> bool:
        return self.words[0] == "data"

    def patch(self, bench: Bench, folder: Path, number: int, count: Path) -> tuple[str, dict[str, Any]]:
        """Death at the `number`-th change of a file below the folder, and the local server if it is needed."""
        death = {"folder": str(folder), "number": number, "count": str(count)}
        if not self.downloads:
            return "die_at_change", death
        return "address_and_death", death | {"port": local_server(bench), "sha256": published_hash()}

    def plain_patch(self, bench: Bench) -> tuple[str, dict[str, Any]] | None:
        """The local server if it is needed."""
        if not self.downloads:
            return None
        return "address", {"port": local_server(bench), "sha256": published_hash()}

    def reference(self, bench: Bench) -> Reference:
        """The undisturbed command; run once."""
        return bench.once(f"reference {self.name}", lambda folder: self._run(bench, folder))

    def _run(self, bench: Bench, folder: Path) -> Reference:
        with Case(f"reference-{self.name}".replace(" ", "-"), 0, bench) as case:
            here = case.copy_of(base(bench))
            before, count = _kilobytes(here), case.folder / "count"
            patch = self.patch(bench, here, 0, count)
            ended = case.call(self.words, here, (0,), patch=patch)
            size = _kilobytes(here) - before
            return Reference(self.result(here), int(count.read_text() or 0), ended.seconds, size)


def base(bench: Bench) -> Path:
    """A folder with a scored run, an unfinished run, a run on a table, data and a recipe; made once."""
    return bench.once("base", lambda folder: _make_base(bench, folder))


def _make_base(bench: Bench, folder: Path) -> Path:
    with Case("base", 0, bench) as case:
        options = ("--steps", "6", "--batch-size", "8", "--device", "cpu", "--quiet")
        (folder / "images").mkdir()
        for name, gray in (("a.png", 40), ("b.png", 200)):
            Image.new("L", (16, 16), gray).save(folder / "images" / name)
        rows = [[round(((7 * i + 3 * j * j) % 23) / 5 + j, 3) for j in range(4)] for i in range(60)]
        text = "\n".join(",".join(map(str, row)) for row in [["a", "b", "c", "d"], *rows])
        (folder / "rows.csv").write_text(text + "\n", "utf-8")
        (folder / "recipe.py").write_text(STUDY, "utf-8")
        (folder / "notes.txt").write_text("Mine.\n", "utf-8")
        (folder / "data-root").mkdir()
        train = ("train", "beta-vae", "--data", "sprites", *SMALL, "--val-fraction", "0.2", *options)
        case.call([*train, "--out", "run"], folder, (0,))
        case.call(["evaluate", "run", "--metrics", "kl", "--num-samples", "60"], folder, (0,))
        table = ("train", "vae", "--data", "rows.csv", "--architecture", "mlp-small", "--latent-dim", "3")
        case.call([*table, "--likelihood", "normal:1", *options, "--out", "table"], folder, (0,))
        count, patch = case.folder / "count", "die_at_change"
        arguments = {"folder": str(folder / "unfinished"), "number": 40, "count": str(count)}
        killed = case.start(
            [*_training_words("beta-vae"), "--out", "unfinished"], folder, patch=(patch, arguments)
        ).wait(60)
        if killed.code != -9 or not (folder / "unfinished" / "checkpoint.safetensors").exists():
            raise DidNotSurvive("the base has no unfinished run", killed.last_lines)
    return folder


def _training_words(method: str) -> tuple[str, ...]:
    data, steps, options = TRAININGS[method]
    short = ("--batch-size", "8", "--device", "cpu", "--checkpoint-seconds", "0.05", "--log-every", "10")
    return ("train", method, "--data", data, *options, "--steps", str(steps), *short)


def _training(method: str) -> Action:
    words = (*_training_words(method), "--out", "new")
    return Action(f"train {method}", words, ("new",), _run_result, (*words, "--resume"))


def _run_result(folder: Path, name: str = "new") -> dict[str, Any]:
    """The hashes of the weights and the history, which must have each step once and in order."""
    run = folder / name
    lines = [json.loads(line) for line in (run / "history.jsonl").read_text("utf-8").splitlines()]
    steps = [line["step"] for line in lines if "validation" not in line]
    if any(later <= earlier for earlier, later in pairwise(steps)):
        raise DidNotSurvive("has steps twice or out of order in history.jsonl")
    if any(line["seconds"] < 0 for line in lines):
        raise DidNotSurvive("has negative seconds in history.jsonl")
    history = [{key: value for key, value in line.items() if key != "seconds"} for line in lines]
    weights = {path.name: _hash(path) for path in (run / "model.safetensors", run / "best.safetensors")}
    return {**weights, "history": history, "leftovers": _leftovers(run)}


def _scores_result(folder: Path) -> dict[str, Any]:
    scores = json.loads((folder / "run" / "scores.json").read_text("utf-8"))
    if any(score["seconds"] < 0 for score in scores):
        raise DidNotSurvive("has negative seconds in scores.json")
    return {score["metric"]: score["value"] for score in scores}


def _study_result(folder: Path) -> dict[str, Any]:
    text = (folder / "study" / "results.csv").read_text("utf-8")
    rows = {
        f"{row['run']} {row['metric']}": (row["seed"], row["value"])
        for row in csv.DictReader(io.StringIO(text))
    }
    failures = json.loads((folder / "study" / "failures.json").read_text("utf-8"))
    return {**rows, "failures": failures}


def _export_result(folder: Path) -> dict[str, Any]:
    exported = folder / "exported"
    names = sorted(path.name for path in exported.iterdir())
    return {"names": names, "weights": _hash(exported / "model.safetensors")}


def _page_result(name: str) -> Callable[[Path], dict[str, Any]]:
    def result(folder: Path) -> dict[str, Any]:
        page = (folder / name).read_text("utf-8")
        return {"whole": page.rstrip().endswith("</html>"), "lines": page.count("\n")}

    return result


def _codes_result(folder: Path) -> dict[str, Any]:
    with zipfile.ZipFile(folder / "codes.npz") as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def _image_result(folder: Path) -> dict[str, Any]:
    return {"sheet.png": _hash(folder / "sheet.png")}


def _download_result(folder: Path) -> dict[str, Any]:
    return {FILE: _hash(folder / "data-root" / "dsprites" / FILE)}


def local_server(bench: Bench) -> int:
    """The port of a server that publishes a small file in the form of dSprites."""
    return bench.once("server", lambda folder: serving())


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def _leftovers(folder: Path) -> list[str]:
    """Half-written files."""
    return sorted(path.name for path in folder.iterdir() if path.name.endswith(".part"))


def _kilobytes(folder: Path) -> int:
    return sum(-(-path.stat().st_size // 4096) * 4 for path in folder.rglob("*") if path.is_file())


OTHERS = (
    Action(
        "evaluate",
        ("evaluate", "run", "--metrics", "reconstruction,mig,sap,modularity", "--num-samples", "400"),
        ("run/scores.json", "run/."),
        _scores_result,
    ),
    Action("study", ("study", "recipe.py", "--out", "study", "--device", "cpu"), ("study",), _study_result),
    Action(
        "export",
        ("export", "run", "--format", "safetensors", "--out", "exported"),
        ("exported",),
        _export_result,
    ),
    Action(
        "download",
        ("data", "download", "dsprites", "--data-root", "data-root"),
        ("data-root",),
        _download_result,
        file=f"data-root/dsprites/{FILE}",
    ),
    Action(
        "report",
        ("report", "run"),
        ("run/report.html", "run/figures", "run/."),
        _page_result("run/report.html"),
        file="run/report.html",
    ),
    Action(
        "explore",
        ("explore", "run", "--examples", "4", "--no-open", "--out", "page.html"),
        ("page.html",),
        _page_result("page.html"),
        file="page.html",
    ),
    Action(
        "encode",
        ("encode", "run", "images", "--out", "codes.npz"),
        ("codes.npz",),
        _codes_result,
        file="codes.npz",
    ),
    Action(
        "edit",
        ("edit", "run", "images/a.png", "--zero", "0", "--out", "sheet.png"),
        ("sheet.png",),
        _image_result,
        file="sheet.png",
    ),
    Action(
        "extend",
        (*_training_words("beta-vae"), "--out", "unfinished", "--resume"),
        ("unfinished",),
        lambda folder: _run_result(folder, "unfinished"),
    ),
)
TRAIN = tuple(_training(method) for method in TRAININGS)
# A training, then something else, and so on, so that a few cases try different things.
ACTIONS = tuple(action for pair in zip(TRAIN, OTHERS, strict=True) for action in pair)
