"""The code of `own.py` in an installed package that registers it under entry points."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.faults.processes import Ended, ForkedCommands

OWN = Path(__file__).with_name("own.py")
PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "stripe-lab"
version = "1.0"

[project.entry-points."unbraid.methods"]
decor-vae = "stripe_lab:DecorVAE"
broken-vae = "stripe_lab_broken:BrokenVAE"

[project.entry-points."unbraid.datasets"]
stripes = "stripe_lab:stripes"

[project.entry-points."unbraid.metrics"]
roughness = "stripe_lab:roughness"

[tool.setuptools]
py-modules = ["stripe_lab", "stripe_lab_broken"]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the package was installed."""
    source, site = tmp_path_factory.mktemp("stripe-lab"), tmp_path_factory.mktemp("site")
    shutil.copy(OWN, source / "stripe_lab.py")
    (source / "stripe_lab_broken.py").write_text("import no_such_module_at_all")
    (source / "pyproject.toml").write_text(PROJECT)
    words = [
        "install",
        "--quiet",
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
        "--target",
        site,
        source,
    ]
    subprocess.run([sys.executable, "-m", "pip", *map(str, words)], check=True, capture_output=True)
    return site


def unbraid(commands: ForkedCommands, site: Path, cwd: Path, *words: object) -> Ended:
    """A command as a process of its own that has the folder on its path."""
    running = commands.start(
        [str(word) for word in words],
        cwd,
        variables={"PYTHONPATH": str(site)},
        output=cwd / f"{words[0]}.txt",
    )
    return running.wait(60)


def test_an_interpreter_of_its_own_lists_installed_code(site: Path, tmp_path: Path) -> None:
    """What fails to import is named and skipped."""
    listed = subprocess.run(
        [sys.executable, "-m", "unbraid", "list", "methods"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(site)},
    )
    assert "From the package stripe-lab" in listed.stdout and "decor-vae" in listed.stdout
    assert "broken-vae of the package stripe-lab is skipped" in listed.stderr


def test_installed_code_is_used_by_name(site: Path, tmp_path: Path, forked: ForkedCommands) -> None:
    """Without naming it again, because installed code is trusted."""
    words = ("--data", "stripes", "--data.noise", 0.1, "--steps", 4, "--batch-size", 8, "--latent-dim", 3)
    trained = unbraid(forked, site, tmp_path, "train", "decor-vae", *words, "--device", "cpu", "--out", "run")
    assert trained.code == 0, trained.err
    settings = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (settings["method"]["name"], settings["data"]["origin"]["name"]) == ("decor-vae", "stripes")
    metrics = ("--metrics", "roughness,mig", "--num-samples", 96, "--json")
    scored = unbraid(forked, site, tmp_path, "evaluate", "run", *metrics)
    assert [score["metric"] for score in json.loads(scored.out)][:2] == ["roughness", "mig"], scored.err
    assert unbraid(forked, site, tmp_path, "report", "run").code == 0


def test_a_broken_entry_point_is_said_when_it_is_asked_for(
    site: Path, tmp_path: Path, forked: ForkedCommands
) -> None:
    words = ("--data", "stripes", "--steps", 1, "--out", "run")
    ended = unbraid(forked, site, tmp_path, "train", "broken-vae", *words)
    assert ended.code == 2
    assert "broken-vae of the package stripe-lab is skipped, because its import fails" in ended.err
    assert "There is no method 'broken-vae'" in ended.err and "Traceback" not in ended.err
