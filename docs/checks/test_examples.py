"""The examples of the API reference run, and every public name has one."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import unbraid
from tests.documented_code import code

API = Path(__file__).parents[1] / "api"
PAGE = (API / "index.md").read_text(encoding="utf-8")
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted(API.glob("*.md"))}
PACKAGES = {
    **{name: name for name in ("data", "nn", "objectives", "methods", "metrics", "training", "runs")},
    **{name: name for name in ("evaluation", "studies", "report", "export", "estimators")},
    "explore": "report",
}  # each with its page


def test_every_public_name_has_an_example() -> None:
    sections = {title: text for title, text in re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)}
    assert sections.keys() == set(unbraid.__all__)
    for name, text in sections.items():
        (example,) = code(text, "pycon")
        assert re.search(rf"unbraid\.{name}\b", example), name


@pytest.mark.parametrize("package", PACKAGES)
def test_every_function_of_a_package_has_an_example_on_its_page(package: str) -> None:
    module = importlib.import_module(f"unbraid.{package}")
    functions = [name for name in module.__all__ if inspect.isroutine(getattr(module, name))]
    shown = "\n".join(code(PAGES[PACKAGES[package]], "pycon") + code(PAGE, "pycon"))
    used = re.sub(r"^>>> (from|import) .*$", "", shown, flags=re.M)
    assert functions
    assert [name for name in functions if not re.search(rf"\b{name}\b", used)] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(code(PAGES[page], "pycon"))
    example = doctest.DocTestParser().get_doctest(text, {"__name__": "api"}, f"docs/api/{page}.md", None, 0)
    assert doctest.DocTestRunner().run(example).failed == 0
