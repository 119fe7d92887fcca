"""The examples of the API reference run, and every public name has one."""

import doctest
import re
from pathlib import Path

import pytest

import unbraid
from tests.documented_code import code

PAGE = (Path(__file__).parents[1] / "api" / "index.md").read_text()


def test_every_public_name_has_an_example() -> None:
    sections = {title: text for title, text in re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)}
    assert sections.keys() == set(unbraid.__all__)
    for name, text in sections.items():
        (example,) = code(text, "pycon")
        assert re.search(rf"unbraid\.{name}\b", example), name


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(code(PAGE, "pycon"))
    example = doctest.DocTestParser().get_doctest(text, {"__name__": "api"}, "docs/api/index.md", None, 0)
    assert doctest.DocTestRunner().run(example).failed == 0
