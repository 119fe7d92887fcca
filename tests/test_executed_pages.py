"""The tutorials and the pages of the systems: docs/executed_pages.py. `make docs` executes them; this only reads them.

tests/test_docs.py parses their commands and compiles their Python.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NAMES = [
    f"{path.parent.name}/{path.stem}"
    for folder in ("tutorials", "systems")
    for path in sorted((DOCS / folder).glob("*.md"))
    if path.stem != "index"
]
PAGE = """# A page

See [metrics](../metrics.md#mig).

```python
# own.py
value = 3
```

```python
from own import value
import matplotlib.pyplot as plt

print("printed", value)
plt.plot([1, 2])
value + 1
```

<!-- not run -->
```sh
pip install something
```

```sh
echo told
```
"""


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS))
    import executed_pages

    return executed_pages


def test_every_page_is_executed_and_listed(pages: ModuleType) -> None:
    assert pages.page_names() == NAMES
    for folder in {name.partition("/")[0] for name in NAMES}:
        index = (DOCS / folder / "index.md").read_text()
        toctree = index.partition("```{toctree}")[2].split()
        for name in NAMES:
            of_folder, _, stem = name.partition("/")
            assert of_folder != folder or (f"({stem}.md)" in index and stem in toctree), name


@pytest.mark.parametrize("name", NAMES)
def test_pages_become_notebooks(name: str, pages: ModuleType) -> None:
    page = (DOCS / f"{name}.md").read_text()
    notebook = pages.notebook(pages.cells_of(page), name.partition("/")[0])
    kinds = [cell["cell_type"] for cell in notebook["cells"]]
    assert kinds[0] == "markdown" and kinds.count("code") >= 2
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            assert not re.search(r"\]\((?!https?:|#)", cell["source"]), "a link that a notebook cannot follow"
            assert "{doc}" not in cell["source"] and "```{" not in cell["source"]
    assert "## What next" in page or "## At the paper's scale" in page


def test_a_page_is_executed_and_shown_with_its_outputs(
    pages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs" / "tutorials").mkdir(parents=True)
    (tmp_path / "docs" / "tutorials" / "page.md").write_text(PAGE)
    executor = (DOCS / "execute_cells.py").read_text()
    (tmp_path / "docs" / "execute_cells.py").write_text(executor)
    monkeypatch.setattr(pages, "DOCS", tmp_path / "docs")
    out = tmp_path / "docs" / "_build" / "executed"
    monkeypatch.setattr(pages, "EXECUTED", out)
    assert pages.page_with_outputs("tutorials/page") is None
    assert pages.execute_page("tutorials/page", sys.executable, out, "version 1", False) == ""
    page, notebook = pages.page_with_outputs("tutorials/page")
    assert "printed 3" in page and "told" in page and "something" in page
    assert "\n4\n" in page and (out / "tutorials" / "page-2-2.png").is_file()
    cells = json.loads(notebook.read_text())["cells"]
    assert cells[0]["source"].endswith("(https://unbraid.readthedocs.io/en/latest/metrics.html#mig).")
    assert [cell["source"].split()[0] for cell in cells if cell["cell_type"] == "code"] == [
        *("%%writefile", "from", "!echo"),
    ]

    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("executed again"))
    assert pages.execute_page("tutorials/page", sys.executable, out, "version 1", False) == ""
    (tmp_path / "docs" / "tutorials" / "page.md").write_text(PAGE.replace("echo told", "echo new"))
    assert pages.page_with_outputs("tutorials/page") is None  # outputs of other code are not shown


def test_a_cell_that_fails_is_named(
    pages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tutorials").mkdir()
    (tmp_path / "tutorials" / "page.md").write_text("# A page\n\n```sh\nfalse\n```\n")
    (tmp_path / "execute_cells.py").write_text((DOCS / "execute_cells.py").read_text())
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    error = pages.execute_page("tutorials/page", sys.executable, tmp_path / "out", "", False)
    assert "tutorials/page: cell 1 failed" in error and "exit code 1" in error
    assert not (tmp_path / "out" / "tutorials" / "page.ipynb").exists()
