"""Executes the tutorials and the pages of the systems: `make docs` and `make notebooks`.

A page is Markdown. Each `python` block and each `sh` block is a cell; a block that starts with `# NAME.py` is a file,
and a block after the line `<!-- not run -->` is only shown. The page becomes a notebook, the notebook is executed in an
empty folder, and conf.py shows the page with the outputs. A page runs again when its cells or the package change.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from execute_cells import JSON, text_of

DOCS = Path(__file__).parent
FOLDERS = "tutorials", "systems"
EXECUTED = DOCS / "_build" / "executed"
SITE = "https://unbraid.readthedocs.io/en/latest/"
NOT_RUN = "<!-- not run -->"
LIMIT = 1200  # seconds per page, on a busy machine
BLOCK = re.compile(r"^```(?P<language>python|sh)\n(?P<code>.*?)^```$\n?", re.M | re.S)
FILE = re.compile(r"# (\w+\.py)\n")
PICTURE = re.compile(r"\]\((?!https?:)[^)\s]*/([^)/\s]+\.(?:png|webp|svg))\)")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)\.md(#[^)\s]*)?\)")


class Cell(NamedTuple):
    """A part of a page. The language of prose is `markdown`."""

    language: str
    text: str

    @property
    def notebook_code(self) -> str:
        """The text as a notebook runs it."""
        if self.language == "sh":
            return "\n".join(f"!{line}" for line in self.text.splitlines())
        name = FILE.match(self.text)
        return (f"%%writefile {name[1]}\n" if name else "") + self.text.rstrip("\n")


def page_names() -> list[str]:
    """All executed pages, such as `tutorials/compare`."""
    paths = (path for folder in FOLDERS for path in sorted((DOCS / folder).glob("*.md")))
    return [f"{path.parent.name}/{path.stem}" for path in paths if path.stem != "index"]


def cells_of(page: str) -> list[Cell]:
    """The prose and the code of a page, in order."""
    cells, prose, position = [], "", 0
    for block in BLOCK.finditer(page):
        prose += page[position : block.start()]
        position = block.end()
        if prose.rstrip().endswith(NOT_RUN):
            prose += block[0]
            continue
        cells += [Cell("markdown", prose), Cell(block["language"], block["code"])]
        prose = ""
    cells.append(Cell("markdown", prose + page[position:]))
    return [cell for cell in cells if cell.text.strip()]


def notebook(cells: list[Cell], folder: str) -> JSON:
    """A notebook of the cells, whose links and pictures are those of the site."""

    def site_link(match: re.Match[str]) -> str:
        path = os.path.normpath(f"{folder}/{match[1]}").replace(os.sep, "/")
        return f"]({SITE}{path}.html{match[2] or ''})"

    made = []
    for number, cell in enumerate(cells):
        entry: JSON = {"id": f"cell-{number}", "metadata": {}}
        if cell.language == "markdown":
            text = LINK.sub(site_link, cell.text.replace(NOT_RUN + "\n", "")).strip("\n")
            text = PICTURE.sub(rf"]({SITE}_images/\1)", text)
            entry |= {"cell_type": "markdown", "source": text}
        else:
            entry |= {
                "cell_type": "code",
                "source": cell.notebook_code,
                "outputs": [],
                "execution_count": None,
            }
        made.append(entry)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def package_hash() -> str:
    """A hash of everything besides a page's cells that its outputs depend on."""
    package = DOCS.parent / "src" / "unbraid"
    paths = sorted(path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    paths += [Path(__file__), DOCS / "execute_cells.py"]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


def execute_page(name: str, python: str, out: Path, package: str, force: bool) -> str:
    """Executes one page, unless its stored outputs are up to date. Returns an error, or an empty string."""
    folder, target = name.partition("/")[0], out / f"{name}.ipynb"
    made = notebook(cells_of((DOCS / f"{name}.md").read_text()), folder)
    codes = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "code"]
    identity = hashlib.sha256(json.dumps([codes, package]).encode()).hexdigest()
    stored = json.loads(target.read_text()) if target.exists() else None
    if stored and stored["metadata"].get("unbraid") == identity and not force:
        outputs = [cell["outputs"] for cell in stored["cells"] if cell["cell_type"] == "code"]
        for cell, output in zip((c for c in made["cells"] if c["cell_type"] == "code"), outputs, strict=True):
            cell["outputs"] = output
        return _write(made, identity, target)
    started, work = time.monotonic(), out / "work" / name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "page.ipynb").write_text(json.dumps(made))
    words = [python, "-W", "ignore::DeprecationWarning", str(DOCS / "execute_cells.py"), "page.ipynb"]
    try:
        done = subprocess.run(words, cwd=work, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"{name} ran for more than {LIMIT} s"
    if done.returncode:
        return f"{name}: {done.stderr.strip()}"
    print(f"{name}: executed in {time.monotonic() - started:.0f} s", flush=True)
    return _write(json.loads((work / "page.ipynb").read_text()), identity, target)


def _write(made: JSON, identity: str, target: Path) -> str:
    made["metadata"]["unbraid"] = identity
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_text() != text:  # an unchanged page is not built again
        target.write_text(text)
    return ""


def page_with_outputs(name: str) -> tuple[str, Path] | None:
    """The Markdown of an executed page with its outputs, and its notebook; None before it was executed."""
    path = EXECUTED / f"{name}.ipynb"
    if name not in page_names() or not path.exists():
        return None
    cells = cells_of((DOCS / f"{name}.md").read_text())
    code_cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    if [cell.notebook_code for cell in cells if cell.language != "markdown"] != [
        text_of(cell["source"]) for cell in code_cells
    ]:
        return None  # the page has changed since
    page, executed = "", iter(code_cells)
    for number, cell in enumerate(cells):
        if cell.language == "markdown":
            page += cell.text
            continue
        page += f"```{cell.language}\n{cell.text}```\n\n"
        for place, output in enumerate(next(executed)["outputs"]):
            page += _output(output, path.with_name(f"{path.stem}-{number}-{place}.png"))
    title, _, rest = page.partition("\n")
    link = f"{{download}}`Download this page as a notebook <../_build/executed/{name}.ipynb>`"
    return f"{title}\n\n{link}. Its outputs are those of the code on this page.\n{rest}", path


def _output(output: dict[str, Any], picture: Path) -> str:
    if output["output_type"] == "stream":
        return f"```{{code-block}} text\n:class: output\n\n{text_of(output['text']).rstrip()}\n```\n\n"
    data = output["data"]
    if "image/png" in data:
        png = base64.b64decode(data["image/png"])
        if not picture.exists() or picture.read_bytes() != png:
            picture.write_bytes(png)
        return f"![Output of the code above](../{picture.relative_to(DOCS).as_posix()})\n\n"
    if "text/html" in data:
        return f"```{{raw}} html\n{text_of(data['text/html']).rstrip()}\n```\n\n"
    return f"```{{code-block}} text\n:class: output\n\n{text_of(data['text/plain'])}\n```\n\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Executes the tutorials and the pages of the systems.")
    parser.add_argument(
        "names", nargs="*", metavar="PAGE", help="pages such as tutorials/compare; default: all"
    )
    parser.add_argument("--python", default=sys.executable, help="Python that runs the cells")
    parser.add_argument("--out", type=Path, default=EXECUTED, help="folder of the notebooks")
    parser.add_argument("--jobs", type=int, default=2, help="pages executed at the same time")
    parser.add_argument("--force", action="store_true", help="execute pages that are up to date, too")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    names, package = options.names or page_names(), package_hash()
    python, out = os.path.abspath(options.python), options.out.resolve()  # of a symbolic link, not its target
    with ThreadPoolExecutor(options.jobs) as pool:
        errors = pool.map(
            lambda name: execute_page(name, python, out, package, options.force),
            names,
        )
        errors = [error for error in errors if error]
    for error in errors:
        print(error, file=sys.stderr)
    print(f"{len(names) - len(errors)} of {len(names)} notebooks are in {out}")
    raise SystemExit(bool(errors))


if __name__ == "__main__":
    main()
