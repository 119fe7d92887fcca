"""The workflows of continuous integration: .github/workflows, Makefile and .ci/run."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from unbraid import __version__

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_make_target_of_a_workflow_exists(path: Path) -> None:
    assert set(re.findall(r"make (\w+)", path.read_text())) <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_jobs_have_limits_and_may_read_only(path: Path) -> None:
    """A job that may do more than read says so itself."""
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert 0 < job["timeout-minutes"] <= 60
        assert all("run" in step or "@" in step["uses"] for step in job["steps"])


def test_the_makefile_explains_its_targets() -> None:
    explained = set(re.findall(r'"make (\w+)', (ROOT / "Makefile").read_text()))
    assert explained == TARGETS - {"help"}


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.stem)
def test_every_file_is_yaml(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text()), dict)


def test_the_version_stands_in_one_place() -> None:
    """pyproject.toml reads it from the package; the citation and the changelog follow it."""
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_a_release_resolves_every_extra_and_keeps_the_outcomes_of_faults() -> None:
    shown = subprocess.run(
        ["make", "--dry-run", "release", f"BIN={Path(sys.executable).parent}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (resolved,) = re.findall(r"pip install .*--dry-run .*\[(.*)\]", shown)
    assert set(resolved.split(",")) == extras.keys()
    assert "build" not in [word for line in re.findall(r"rm -rf (.*)", shown) for word in line.split()]


@pytest.mark.parametrize(
    ("words", "option"), [((), None), (("SHORT=1",), "--short"), (("FULL=1",), "--full")]
)
def test_make_faults_passes_its_size_on(words: tuple[str, ...], option: str | None) -> None:
    shown = subprocess.run(
        ["make", "--dry-run", "faults", *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    (command,) = [line.split() for line in shown.stdout.splitlines() if "benchmarks.faults" in line]
    assert [word for word in command if word.startswith("--")] == ([] if option is None else [option])
