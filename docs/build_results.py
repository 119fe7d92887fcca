"""Builds the pages of docs/results and the summary in the README from their sources and the committed rows.

    python docs/build_results.py            writes the pages
    python docs/build_results.py --check    only says which pages differ from their sources

Each page `docs/results/NAME.md` comes from `docs/results/sources/NAME.md.jinja`. A source calls the functions of
`result_tables.py` for every measured number; they read `docs/results/rows/*.csv`. Published numbers come from the
recipes' `PUBLISHED`, or from `docs/results/published.csv`, which also says whether each was read in its paper.

On other pages a measured number stands between two marks, the first of which has the call: `<!-- {{ call }} -->` and
`<!-- end -->`. This script writes what is between them.
"""

import re
import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from result_tables import functions

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
BEGIN, END = "<!-- summary -->", "<!-- end of summary -->"
MARKED = re.compile(r"(<!-- (\{\{ .*? \}\}) -->).*?(<!-- end -->)", re.DOTALL)


def build(results: Path = RESULTS, readme: Path = ROOT / "README.md") -> dict[Path, str]:
    """The text of every page, of other pages with marked numbers, and of the README if it has marks of a summary."""
    sources = results / "sources"
    environment = Environment(
        loader=FileSystemLoader(sources),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= functions(results)
    pages = {}
    for source in sorted(sources.glob("*.md.jinja")):
        if not source.name.startswith("_"):
            mark = f"<!-- Built from sources/{source.name} and rows/ by docs/build_results.py: edit those. -->\n\n"
            pages[results / source.name.removesuffix(".jinja")] = (
                mark + environment.get_template(source.name).render()
            )
    for page in marked_pages(results.parent):
        pages[page] = fill_marks(page.read_text(encoding="utf-8"), environment)
    summary = environment.get_template("_readme.md.jinja").render()
    text = readme.read_text(encoding="utf-8")
    if BEGIN in text:
        pages[readme] = with_summary(text, summary)
    return pages


def marked_pages(docs: Path) -> list[Path]:
    """Pages of the site, outside docs/results, with numbers between marks."""
    found = sorted(page for folder in (".", "methods", "systems") for page in (docs / folder).glob("*.md"))
    return [page for page in found if MARKED.search(page.read_text(encoding="utf-8"))]


def fill_marks(text: str, environment: Environment) -> str:
    """The text with the value of each call between its marks; a table gets lines of its own."""

    def filled(found: re.Match[str]) -> str:
        value = environment.from_string(found[2]).render()
        return f"{found[1]}\n\n{value}\n\n{found[3]}" if "\n" in value else f"{found[1]}{value}{found[3]}"

    return MARKED.sub(filled, text)


def with_summary(text: str, summary: str) -> str:
    """The text with the summary between its marks; a text that has only the first mark gets the second."""
    before, after = text.split(BEGIN, 1)
    after = after.split(END, 1)[1] if END in after else after
    return f"{before}{BEGIN}\n{summary.strip()}\n{END}{after}"


def main() -> int:
    stale = [
        (path, text)
        for path, text in build().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        print(path.relative_to(ROOT))
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
