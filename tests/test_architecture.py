"""The house: which package imports which, how long files and functions are, and where tests are."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import unbraid

SOURCE = Path(unbraid.__file__ or "").parent
TESTS = Path(__file__).parent
# Packages and modules at the top, from low to high. Each may import those before it; docs/architecture.md has the
# picture. `__init__` names the public API and may import everything.
ORDER = (
    *("seeds", "progress", "files", "display", "custom_code"),
    *("settings", "distributed"),
    *("types", "schedules", "optimizers", "options", "strands"),
    *("objectives", "nn", "metrics", "data", "methods"),
    *("runs", "training", "evaluation", "studies", "recipes"),
    *("report", "explore", "export", "estimators", "demo"),
    *("cli", "__main__"),
)
LINES, FUNCTION_LINES = 300, 60
PACKAGES = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())
FILES = sorted(SOURCE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The package or top-level module of a file."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """The modules of Unbraid that a file imports, wherever in the file: in functions and for types, too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "unbraid":
            parts = tuple((node.module or "").split(".")[1:])
            yield from [parts] if parts else [(alias.name,) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("unbraid.")]
            yield from (tuple(name.split(".")[1:]) for name in names)


def test_the_order_names_every_part() -> None:
    parts = {part_of(path) for path in FILES}
    assert set(ORDER) == parts - {"__init__"}


def test_the_picture_and_the_table_have_this_order() -> None:
    page, picture = (
        (TESTS.parent / "docs" / name).read_text() for name in ("architecture.md", "architecture.svg")
    )
    rows = re.findall(r"^\| (`.*?) \|", page.partition("## How packages import")[2].partition("## ")[0], re.M)
    listed = [name.strip(" `/") for row in rows for name in row.split(",")]
    assert listed == [name for name in ORDER if name != "__main__"]
    boxes = re.findall(r'<text class="code"[^>]*>(\w+)</text>', picture.partition("How packages import")[2])
    assert boxes == listed[::-1]


def test_imports_point_one_way() -> None:
    """Down the order, or within the package, so that no cycle between packages is possible."""
    wrong = [
        f"{path.relative_to(SOURCE)} imports {'.'.join(module)}"
        for path in FILES
        if (here := part_of(path)) != "__init__"
        for module in imports(path)
        if module[0] not in ("__version__", here) and ORDER.index(module[0]) >= ORDER.index(here)
    ]
    assert not wrong


def test_nobody_reaches_past_the_init_of_another_package() -> None:
    """Recipes are data of their package: each is a module that others import by its name."""
    wrong = [
        f"{path.relative_to(SOURCE)} imports {'.'.join(module)}"
        for path in FILES
        for module in imports(path)
        if len(module) > 1 and module[0] in PACKAGES and module[0] not in ("recipes", part_of(path))
    ]
    assert not wrong


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_lists_what_others_use(package: str) -> None:
    """An `__init__.py` is a table of contents: imports, and `__all__` with each name once."""
    tree = ast.parse((SOURCE / package / "__init__.py").read_text())
    if package == "recipes":  # has functions that find recipes
        return
    names: list[str] = []
    for node in tree.body:
        assert isinstance(node, ast.Expr | ast.ImportFrom | ast.Assign | ast.If), ast.unparse(node)
        if isinstance(node, ast.ImportFrom):
            names += [alias.asname or alias.name for alias in node.names]
    listed = getattr(__import__(f"unbraid.{package}", fromlist=["__all__"]), "__all__", [])
    assert len(set(listed)) == len(listed)
    assert set(names) <= set(listed)


def test_at_most_a_dozen_modules_stand_at_the_top() -> None:
    assert len(list(SOURCE.glob("*.py"))) <= 13  # with __init__ and __main__


def test_files_and_functions_are_short() -> None:
    long = []
    for path in FILES:
        text = path.read_text()
        if text.count("\n") > LINES:
            long.append(f"{path.relative_to(SOURCE)} has {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                documented = isinstance(node.body[0], ast.Expr) and isinstance(
                    node.body[0].value, ast.Constant
                )
                first = node.body[1] if documented and len(node.body) > 1 else node.body[0]
                if (node.end_lineno or 0) - first.lineno + 1 > FUNCTION_LINES:
                    long.append(f"{node.name} in {path.relative_to(SOURCE)}")
    assert not long


def test_every_source_file_has_a_test_file_of_its_name() -> None:
    """With a test in it. Recipes are data: tests/studies/test_recipe.py reads them all."""
    for path in FILES:
        inside = path.relative_to(SOURCE)
        if inside.stem.startswith("__") or inside.parts[0] == "recipes":
            continue
        test = TESTS / inside.with_name(f"test_{inside.name}")
        assert test.exists(), f"{inside} has no {test.relative_to(TESTS.parent)}"
        assert "def test_" in test.read_text(), f"{test.relative_to(TESTS.parent)} has no test"
