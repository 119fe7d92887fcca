"""The documentation's code runs, and its command lines are ones that the command line understands."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.test_readme import parse
from unbraid.recipes import recipe_names

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(page.relative_to(DOCS) for page in DOCS.rglob("*.md") if "_build" not in page.parts)
RUN = (
    "own_data.md",
    "concepts.md",
    "data.md",
    "export.md",
    "estimators.md",
    "independent_directions.md",
)  # pages whose Python takes seconds


def code(page: Path | str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_command_lines_can_be_read(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my-images").mkdir()
    monkeypatch.chdir(tmp_path)
    lines = [line for block in code(page, "sh") for line in block.splitlines()]
    for line in lines:
        if line.startswith("unbraid "):
            parse(line)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_python_is_python(page: Path) -> None:
    for block in code(page, "python"):
        compile(block, str(page), "exec")


@pytest.mark.parametrize("page", RUN)
def test_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page}
    for block in code(page, "python"):
        exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_pictures_are_there(page: Path) -> None:
    for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (DOCS / page).read_text()):
        assert (DOCS / page.parent / target).is_file(), target


def test_every_recipe_is_told_of() -> None:
    rows = [line for line in (DOCS / "studies.md").read_text().splitlines() if line.startswith("| `")]
    told = {}
    for row in rows:
        names = re.findall(r"`([^`]+)`", row.split("|")[1])
        paper = names[0].partition("/")[0]
        told |= {name if "/" in name else f"{paper}/{name}": row for name in names}
    assert set(recipe_names()) <= set(told)
