"""CONTRIBUTING.md adds a method: here that is done to a copy of the package, and what it adds is run."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from unbraid.methods.base import Method
from unbraid.model import method_classes

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?P<kind>\w+) file=(?P<file>\S+)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S
)
MODULE = "free_bits_vae"


class Block(NamedTuple):
    """What the walk-through shows of one file: all of it, or as a difference."""

    kind: str
    file: str
    text: str


def blocks() -> list[Block]:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return [Block(match["kind"], match["file"], match["text"]) for match in BLOCK.finditer(text)]


def apply(block: Block, root: Path) -> None:
    """Writes a whole file, or adds the lines with a plus below the line before them."""
    path = root / block.file
    if block.kind != "diff":
        assert not path.exists(), f"{block.file} exists already: the walk-through must add something new"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
        return
    kept = [line[1:] for line in block.text.splitlines() if not line.startswith("+")]
    before, after = "\n".join(kept) + "\n", "".join(line[1:] + "\n" for line in block.text.splitlines())
    text = path.read_text()
    assert text.count(before) == 1, f"{block.file} has {text.count(before)} times the lines {kept}"
    path.write_text(text.replace(before, after))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The parts of the repository that the walk-through touches, with the walk-through applied."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "unbraid", tmp_path / "src" / "unbraid", ignore=ignore)
    (tmp_path / "tests" / "methods").mkdir(parents=True)
    shared = [file for file in (ROOT / "tests").glob("*.py") if not file.name.startswith("test_")]
    common = [ROOT / "tests" / "methods" / name for name in ("__init__.py", "test_common.py")]
    for file in (ROOT / "pyproject.toml", ROOT / "CHANGELOG.md", *shared, *common):
        shutil.copy(file, tmp_path / file.relative_to(ROOT))
    for block in blocks():
        apply(block, tmp_path)
    return tmp_path


def python(copy: Path, *arguments: str) -> str:
    """Runs Python in the copy, with the copy's package before the installed one."""
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_walk_through_touches_five_files() -> None:
    assert list(dict.fromkeys(block.file for block in blocks())) == [
        f"src/unbraid/methods/{MODULE}.py",
        f"tests/methods/test_{MODULE}.py",
        "src/unbraid/methods/__init__.py",
        f"docs/methods/{MODULE}.md",
        "CHANGELOG.md",
    ]


def test_the_walk_through_adds_a_method_that_passes_every_test(copy: Path) -> None:
    tests = python(
        copy,
        *("-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *(f"tests/methods/test_{MODULE}.py", "tests/methods/test_common.py"),
        *("-k", f"test_{MODULE} or {MODULE.replace('_', '-')}"),
    )
    common = (ROOT / "tests" / "methods" / "test_common.py").read_text().count("(cls: type[Method]")
    own = next(block for block in blocks() if block.file.startswith("tests/")).text.count("def test_")
    assert f"{common + own} passed" in tests
    listed = json.loads(python(copy, "-m", "unbraid", "list", "methods", "--json"))["methods"]
    assert MODULE.replace("_", "-") in listed and len(listed) == len(method_classes()) + 1


def test_the_walk_through_is_in_style(copy: Path) -> None:
    added = [str(copy / block.file) for block in blocks() if block.file.endswith(".py")]
    python(copy, "-m", "ruff", "check", "--no-cache", *added)
    python(copy, "-m", "ruff", "format", "--no-cache", "--check", *added)


def test_the_page_shows_the_class_and_its_picture() -> None:
    page = next(block.text for block in blocks() if block.file.startswith("docs/"))
    assert f".. autoclass:: unbraid.methods.{MODULE}." in page
    assert f"../pictures/{MODULE}.png" in page


@pytest.mark.parametrize("name", method_classes())
def test_every_method_has_a_test_and_a_page_with_its_picture_if_it_decodes(name: str) -> None:
    module = name.replace("-", "_")
    assert (ROOT / "tests" / "methods" / f"test_{module}.py").exists()
    page = (ROOT / "docs" / "methods" / f"{module}.md").read_text()
    assert f"unbraid.methods.{module}." in page and f"unbraid train {name} " in page
    if method_classes()[name].decode is Method.decode:
        return
    assert f"../pictures/{module}.png" in page
    assert (ROOT / "docs" / "pictures" / f"{module}.png").stat().st_size < 120 * 1024
