"""The documentation's code runs, and its command lines are ones that the command line understands."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import CommandLine
from tests.documented_code import code, commands, folder_with_files, programs, run_commands
from tests.test_readme import parse
from unbraid.data import DATASETS
from unbraid.evaluation import available_metrics
from unbraid.recipes import recipe_names
from unbraid.report import FIGURES

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(page.relative_to(DOCS) for page in DOCS.rglob("*.md") if "_build" not in page.parts)
RUN = (
    "own_data.md",
    "own_code.md",
    "concepts.md",
    "data.md",
    "export.md",
    "estimators.md",
    "independent_directions.md",
)  # pages whose Python takes seconds


def text(page: Path | str) -> str:
    return (DOCS / page).read_text()


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_command_lines_can_be_read(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with folder_with_files(text(page), tmp_path, monkeypatch):
        for line in commands(text(page)):
            parse(line)


def test_commands_in_tables_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with folder_with_files(text("own_code.md"), tmp_path, monkeypatch):
        lines = re.findall(r"`(unbraid [^`\s]+ [^`]+)`", text("howto.md"))
        assert len(lines) >= 15
        for line in lines:
            parse(line)


def test_every_metric_has_its_limits() -> None:
    """A page says of each metric when not to trust it."""
    rows = [line.split("|")[1] for line in text("metric_limits.md").splitlines() if line.startswith("| `")]
    assert available_metrics().keys() <= {name for cell in rows for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_python_is_python(page: Path) -> None:
    for block in code(text(page), "python"):
        compile(block, str(page), "exec")


@pytest.mark.parametrize("page", RUN)
def test_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": page}
    with folder_with_files(text(page), tmp_path, monkeypatch):
        for block in programs(text(page)):
            exec(compile(block, page, "exec"), names)


def test_the_commands_of_your_own_code_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unbraid: CommandLine
) -> None:
    page = text("own_code.md")
    with folder_with_files(page, tmp_path, monkeypatch):
        run_commands(commands(page), unbraid, monkeypatch)
    table = (tmp_path / "runs" / "study" / "table.md").read_text()
    assert "| SparseVAE | bars |" in table and "max_correlation" in table


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_pictures_are_there(page: Path) -> None:
    for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text(page)):
        assert (DOCS / page.parent / target).is_file(), target


def test_every_recipe_is_told_of() -> None:
    rows = [line for line in text("studies.md").splitlines() if line.startswith("| `")]
    told = {}
    for row in rows:
        names = re.findall(r"`([^`]+)`", row.split("|")[1])
        paper = names[0].partition("/")[0]
        told |= {name if "/" in name else f"{paper}/{name}": row for name in names}
    assert set(recipe_names()) <= set(told)


@pytest.mark.parametrize(("page", "names"), [("data.md", DATASETS), ("report.md", FIGURES)])
def test_every_dataset_and_every_figure_has_a_row(page: str, names: dict[str, object]) -> None:
    first_cells = [line.split("|")[1] for line in text(page).splitlines() if line.startswith("| `")]
    assert names.keys() <= {name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)}
