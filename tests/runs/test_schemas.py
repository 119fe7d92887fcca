"""Damaged files of runs and exports, src/unbraid/runs/schemas.py: each ends in one sentence that names the file."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.faults.damage import damage_bytes, damage_json, restore
from unbraid.cli.evaluate import evaluate_run
from unbraid.data import open_dataset
from unbraid.explore import write_explorer
from unbraid.export import export
from unbraid.methods import BetaVAE, build_method
from unbraid.report import command_of, score_rows, write_report
from unbraid.runs import Run, load, training_dataset
from unbraid.training import train

FILES = ("run.json", "plan.json", "versions.json", "finished.json", "history.jsonl", "scores.json")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with scores and an export."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    dataset = open_dataset("sprites", image_size=16)
    method = build_method(BetaVAE, dataset.shape, **dataset.counts, architecture="mlp-small", latent_dim=2)
    train(method, dataset, out=folder, steps=2, batch_size=4, log_every=1, device="cpu", quiet=True)
    score(folder)
    export(folder, "safetensors", folder.parent / "export")
    return folder


def score(folder: Path) -> None:
    metrics = ("reconstruction", "kl", "mig")
    evaluate_run(folder, metrics, root=None, device="cpu", num_samples=50, quiet=True)


def report(folder: Path) -> None:
    write_report([folder], folder / "report.html", figures=("reconstructions",))


def read(folder: Path) -> None:
    """Everything that commands read from a run."""
    run = Run(folder)
    _ = repr(run), run._repr_html_(), run.history(), run.versions(), score_rows({"run": run.scores()})
    _ = training_dataset(run), run.plan and command_of(run), load(folder, device="cpu")


def explore(folder: Path) -> None:
    write_explorer(folder)


def use_export(folder: Path) -> None:
    model = load(folder, device="cpu")
    _ = model.columns, repr(model), model.sample(2)


def fault_of(action: Callable[[Path], None], folder: Path) -> str:
    """The sentence of the error that an action ends in; empty without an error. Other errors are raised."""
    try:
        action(folder)
    except (ValueError, OSError) as error:
        sentence = str(error)
        assert sentence.endswith(".") and "\n" not in sentence and "[Errno" not in sentence, sentence
        return sentence
    return ""


def try_damage(
    name: str, seed: int, whole: Path, copy: Path, action: Callable[[Path], None]
) -> tuple[str, str]:
    """What was damaged, and the sentence."""
    rng, path = random.Random(seed), copy / name
    damage = damage_json if name.endswith(("json", "jsonl")) and rng.random() < 0.9 else damage_bytes
    try:
        return damage(path, rng), fault_of(action, copy)
    finally:
        restore(path, whole / name)


@pytest.fixture(scope="module")
def copy(whole: Path) -> Path:
    """A copy of the run and the export, which the tests damage and restore."""
    for name in ("run", "export"):
        shutil.copytree(whole.parent / name, whole.parent / "copy" / name)
    return whole.parent / "copy"


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_of_a_run_get_one_sentence(name: str, whole: Path, copy: Path) -> None:
    """Nothing but ValueError and OSError, whatever the damage; most damage is found."""
    found = [try_damage(name, seed, whole, copy / "run", read) for seed in range(40)]
    assert sum(bool(sentence) for _, sentence in found) > 20


def test_damaged_exports_get_one_sentence(whole: Path, copy: Path) -> None:
    found = [
        try_damage("config.json", seed, whole.parent / "export", copy / "export", use_export)
        for seed in range(40)
    ]
    assert sum(bool(sentence) for _, sentence in found) > 20


@pytest.mark.parametrize("seed", range(8))
def test_scoring_and_reporting_a_damaged_run_get_one_sentence(seed: int, whole: Path, copy: Path) -> None:
    for name in ("run.json", "scores.json"):
        try_damage(name, seed, whole, copy / "run", score)
        restore(copy / "run" / "scores.json", whole / "scores.json")
    try_damage(FILES[seed % len(FILES)], seed, whole, copy / "run", report if seed % 2 else explore)
