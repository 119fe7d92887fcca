"""CONTRIBUTING.md adds a method: the walk-through is applied to a copy of the package, and the added code is run."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from unbraid.methods import Method, method_classes

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?P<kind>\w+) file=(?P<file>\S+)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S
)
MODULE = "free_bits_vae"


class Block(NamedTuple):
    """One file of the walk-through: its content, or a diff."""

    kind: str
    file: str
    text: str


def blocks() -> list[Block]:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return [Block(match["kind"], match["file"], match["text"]) for match in BLOCK.finditer(text)]


def apply(block: Block, root: Path) -> None:
    """Writes a new file, or inserts the added lines of a diff."""
    path = root / block.file
    if block.kind != "diff":
        assert not path.exists(), f"{block.file} exists already: the walk-through must add something new"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
        return
    context = [line[1:] for line in block.text.splitlines() if not line.startswith("+")]
    before, after = "\n".join(context) + "\n", "".join(line[1:] + "\n" for line in block.text.splitlines())
    text = path.read_text()
    assert text.count(before) == 1, f"{block.file} has {text.count(before)} times the lines {context}"
    path.write_text(text.replace(before, after))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files of the repository that the walk-through needs, with the walk-through applied."""
    shutil.copytree(ROOT / "src" / "unbraid", tmp_path / "src" / "unbraid")  # with what Python has compiled
    (tmp_path / "tests" / "methods").mkdir(parents=True)
    shared = [file for file in (ROOT / "tests").glob("*.py") if not file.name.startswith("test_")]
    common = [ROOT / "tests" / "methods" / name for name in ("__init__.py", "test_common.py")]
    for file in (ROOT / "pyproject.toml", ROOT / "CHANGELOG.md", *shared, *common):
        shutil.copy(file, tmp_path / file.relative_to(ROOT))
    for block in blocks():
        apply(block, tmp_path)
    return tmp_path


# Pytest and then `unbraid list` in one process. Shapes are checked in the added module alone, so that the rest of the
# package need not be compiled again.
TEST_AND_LIST = """
import sys
import pytest

checked = "--jaxtyping-packages=unbraid.methods.{module},beartype.beartype"
assert pytest.main(["-q", "-p", "no:cacheprovider", "-o", "addopts=--strict-markers", checked, *sys.argv[1:]]) == 0

from unbraid.cli.main import main

sys.argv = ["unbraid", "list", "methods", "--json"]
main()
""".replace("{module}", MODULE)


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
    tests, _, listed = python(
        copy,
        *("-c", TEST_AND_LIST, f"tests/methods/test_{MODULE}.py", "tests/methods/test_common.py"),
        *("-k", f"test_{MODULE} or {MODULE.replace('_', '-')}"),
    ).partition("\n{\n")
    common = (ROOT / "tests" / "methods" / "test_common.py").read_text().count("(cls: type[Method]")
    added = next(block for block in blocks() if block.file.startswith("tests/")).text.count("def test_")
    assert f"{common + added} passed" in tests
    methods = json.loads("{" + listed)["methods"]
    assert MODULE.replace("_", "-") in methods and len(methods) == len(method_classes()) + 1


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
