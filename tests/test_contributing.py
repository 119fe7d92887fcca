"""CONTRIBUTING.md adds a method, a dataset, a metric and a figure: the walk-throughs are applied to a copy of the
package, and the added code is run."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from unbraid.cli.list import names_by_kind
from unbraid.cli.option_table import read_table
from unbraid.methods import Method, method_classes
from unbraid.studies.plan_identity import introduced_values

ROOT = Path(__file__).parents[1]
SECTION = re.compile(r"^## Add a (?P<kind>\w+)\n(?P<text>.*?)(?=^## Add a |\Z)", re.M | re.S)
BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?P<kind>\w+) file=(?P<file>\S+)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S
)


class Block(NamedTuple):
    """One file of a walk-through: its content, or a diff."""

    kind: str
    file: str
    text: str


class Walk(NamedTuple):
    """What a walk-through adds, and the files that it touches besides the changelog."""

    module: str
    name: str  # on the command line
    package: str
    registry: str
    page: str
    common: str  # tests that every method, dataset, metric or figure passes


WALKS = {
    "method": Walk(
        "free_bits_vae",
        "free-bits-vae",
        "methods",
        "methods/__init__.py",
        "docs/methods/free_bits_vae.md",
        "tests/methods/test_common.py",
    ),
    "dataset": Walk(
        "clocks", "clocks", "data", "data/registry.py", "docs/data.md", "tests/data/test_dataset.py"
    ),
    "metric": Walk(
        "mig_sup",
        "mig_sup",
        "metrics",
        "metrics/__init__.py",
        "docs/metrics.md",
        "tests/metrics/test_common.py",
    ),
    "figure": Walk(
        "histograms",
        "histograms",
        "report",
        "report/figure_table.py",
        "docs/report.md",
        "tests/report/test_figure_table.py",
    ),
}
EACH = pytest.mark.parametrize("kind", WALKS)
DOCUMENTED = "tests/evaluation/test_summary.py"  # compares docs/metrics.md with the metrics
LIMITS = "docs/metric_limits.md"  # says of each metric when not to trust it
GENERATED_TABLES = ("cli/option_table.json", "studies/introduced.json")  # by `make options`


def sections() -> dict[str, str]:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return {match["kind"]: match["text"] for match in SECTION.finditer(text)}


def blocks(kind: str) -> list[Block]:
    return [Block(match["kind"], match["file"], match["text"]) for match in BLOCK.finditer(sections()[kind])]


def added_test(kind: str) -> Block:
    return next(block for block in blocks(kind) if block.file.startswith("tests/"))


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


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the repository that the walk-throughs need, with the walk-throughs applied."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src" / "unbraid", copy / "src" / "unbraid")  # with what Python has compiled
    support = [
        file
        for folder in (ROOT / "tests", *(ROOT / "tests" / walk.package for walk in WALKS.values()))
        for file in folder.glob("*.py")
        if not file.name.startswith("test_")
    ]
    files = [walk.common for walk in WALKS.values()] + [walk.page for walk in WALKS.values()]
    files += [DOCUMENTED, LIMITS, "tests/evaluation/__init__.py", "benchmarks/introduced.py"]
    paths = [ROOT / name for name in (*files, "pyproject.toml", "CHANGELOG.md")]
    for file in (*support, *(path for path in paths if path.exists())):
        target = copy / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    for kind in WALKS:
        for block in blocks(kind):
            apply(block, copy)
    return copy


# Pytest, `unbraid list` and `make options` in one process. Shapes are checked in the added modules alone, so that the
# rest of the package need not be compiled again.
TEST_AND_LIST = """
import runpy, sys
import pytest

options = ["-v", "-p", "no:cacheprovider", "-o", "addopts=--strict-markers"]
assert pytest.main([*options, *sys.argv[1:]]) == 0

from unbraid.cli.main import main

runpy.run_path("benchmarks/introduced.py", run_name="__main__")
runpy.run_module("unbraid.cli.option_table", run_name="__main__")
sys.argv = ["unbraid", "list", "--json"]
main()
"""


def python(copy: Path, *arguments: str) -> str:
    """Runs Python in the copy, with the copy's package before the installed one."""
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Outcome(NamedTuple):
    """The names of the tests that passed, and what `unbraid list` lists afterwards."""

    passed: list[str]
    listed: dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def outcome(copy: Path) -> Outcome:
    """The tests of the added code in the copy, and of the additions among all others."""
    modules = ",".join(f"unbraid.{walk.package}.{walk.module}" for walk in WALKS.values())
    tests = [f"tests/{walk.package}/test_{walk.module}.py" for walk in WALKS.values()]
    names = " or ".join(name for walk in WALKS.values() for name in {walk.module, walk.name})
    printed = python(
        copy,
        *("-c", TEST_AND_LIST, f"--jaxtyping-packages={modules},beartype.beartype"),
        *(*tests, *(walk.common for walk in WALKS.values()), DOCUMENTED),
        *("-k", f"{names} or has_a_heading or documentation_states"),
    )
    report, _, listed = printed.partition("\n{\n")
    return Outcome(re.findall(r"^(tests/\S+) PASSED", report, re.M), json.loads("{" + listed))


@EACH
def test_a_walk_through_touches_one_file_one_test_one_registry_one_page_and_the_changelog(kind: str) -> None:
    walk = WALKS[kind]
    assert list(dict.fromkeys(block.file for block in blocks(kind))) == [
        f"src/unbraid/{walk.package}/{walk.module}.py",
        f"tests/{walk.package}/test_{walk.module}.py",
        f"src/unbraid/{walk.registry}",
        walk.page,
        *([LIMITS] if kind == "metric" else []),
        "CHANGELOG.md",
    ]


@EACH
def test_the_added_code_passes_its_tests(kind: str, outcome: Outcome) -> None:
    walk = WALKS[kind]
    own = f"tests/{walk.package}/test_{walk.module}.py::"
    assert [name for name in outcome.passed if name.startswith(own)] == [
        own + name for name in re.findall(r"^def (test_\w+)", added_test(kind).text, re.M)
    ]


@pytest.mark.parametrize("kind", ["method", "dataset", "metric"])
def test_the_added_code_passes_the_tests_that_all_pass(kind: str, outcome: Outcome) -> None:
    walk = WALKS[kind]
    passed = [name for name in outcome.passed if name.startswith(f"{walk.common}::")]
    assert passed and all(walk.name in name.partition("[")[2] for name in passed)
    if kind == "method":
        common = (ROOT / walk.common).read_text()
        assert len(passed) == common.count("(cls: type[Method]")
    if kind == "metric":
        assert len({name.partition("[")[0] for name in passed}) > 10


def test_figures_and_metrics_are_checked_with_the_additions(outcome: Outcome) -> None:
    assert any("test_every_figure_has_a_heading" in name for name in outcome.passed)
    assert any("the_documentation_states_the_direction" in name for name in outcome.passed)


@pytest.mark.parametrize("kind", ["method", "dataset", "metric"])
def test_the_command_line_lists_the_addition(kind: str, outcome: Outcome) -> None:
    before = {name for family in names_by_kind(f"{kind}s")[f"{kind}s"].values() for name in family}
    assert set(outcome.listed[f"{kind}s"]) - before == {WALKS[kind].name}


def test_make_options_adds_the_options_and_changes_no_others(copy: Path, outcome: Outcome) -> None:
    before = introduced_values(), read_table()
    introduced, table = (
        json.loads((copy / "src" / "unbraid" / name).read_text()) for name in reversed(GENERATED_TABLES)
    )
    assert introduced.keys() - before[0].keys() == {"method free-bits-vae", "data clocks"}
    assert introduced["method free-bits-vae"]["free_nats"] == 0.25
    assert {key: introduced[key] for key in before[0]} == before[0]
    assert table["methods"].keys() - before[1]["methods"].keys() == {"free-bits-vae"}
    assert table["datasets"].keys() - before[1]["datasets"].keys() == {"clocks"}


def test_the_walk_throughs_are_in_style(copy: Path) -> None:
    added = [str(copy / block.file) for kind in WALKS for block in blocks(kind) if block.file.endswith(".py")]
    python(copy, "-m", "ruff", "check", "--no-cache", *added)
    python(copy, "-m", "ruff", "format", "--no-cache", "--check", *added)


def test_the_page_of_the_method_shows_the_class_and_its_picture() -> None:
    page = next(block.text for block in blocks("method") if block.file.startswith("docs/"))
    assert f".. autoclass:: unbraid.methods.{WALKS['method'].module}." in page
    assert f"../pictures/{WALKS['method'].module}.png" in page


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
