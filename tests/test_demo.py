"""The demo, src/unbraid/demo.py, at a scale of seconds."""

from pathlib import Path

import pytest

from unbraid.demo import BLIND, METRICS, PAIRED, demo
from unbraid.runs import Run


def test_both_methods_learn_from_as_many_images_alike() -> None:
    assert BLIND.options["batch"] == 2 * PAIRED.options["batch"]
    assert BLIND.options["beta"] == PAIRED.options["beta"]


def test_the_demo_trains_scores_and_shows_two_methods(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = demo(tmp_path / "demo", steps=3, samples=300)
    runs = [Run(tmp_path / "demo" / plan.method) for plan in (BLIND, PAIRED)]
    assert page == tmp_path / "demo" / "index.html"
    for run in runs:
        assert run.finished
        assert set(METRICS) <= {score["metric"] for score in run.scores()}
    told = capsys.readouterr().err
    assert "beta-vae: training" in told and "ada-gvae: training" in told and str(page) in told
    text = page.read_text()
    assert "Ada-GVAE" in text and "The same on your own data" in text and "://" not in text

    trained = [(run.folder / "model.safetensors").stat().st_mtime_ns for run in runs]
    page.unlink()
    assert demo(tmp_path / "demo", steps=3, samples=300, quiet=True).exists()
    assert [(run.folder / "model.safetensors").stat().st_mtime_ns for run in runs] == trained
    assert capsys.readouterr().err == ""

    before = [run.scores() for run in runs]
    demo(tmp_path / "demo", steps=4, samples=300, quiet=True)
    assert all(run.scores() != scores for run, scores in zip(runs, before, strict=True))
