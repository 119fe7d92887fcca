"""Sections of the demo page, src/unbraid/demo/sections.py; tests/demo/test_demo.py checks the page with all of them."""

from pathlib import Path

import pytest

from unbraid.demo.page import DemoSection, HeadlineScore
from unbraid.demo.sections import SECTIONS, demo_sections
from unbraid.recipes.demo import demo_pairs
from unbraid.runs.folder import Run
from unbraid.studies.plan import Plan


def test_every_system_of_the_recipe_has_a_section() -> None:
    assert set(SECTIONS) == set(demo_pairs())


def test_a_section_has_its_key_its_method_and_its_explorer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"image_size": 16, "architecture": "mlp-small", "latent_dim": 2, "steps": 1, "batch_size": 2}
    run = Plan("beta-vae", "sprites", options).run(tmp_path / "run", quiet=True, device="cpu")
    section = DemoSection("Title", ["Words."], HeadlineScore("accuracy", 1.0, 0.0, "a baseline", ""))
    monkeypatch.setitem(SECTIONS, "intervention", lambda trained: section)
    pairs = {"intervention": demo_pairs()["intervention"]}
    (found,) = demo_sections(pairs, lambda plan: Run(run.folder), {"intervention": "there.html"})
    assert (found.key, found.method, found.explorer, found.title) == (
        "intervention",
        "β-VAE",
        "there.html",
        "Title",
    )
    assert found.citation and len(found.trained) == 2
