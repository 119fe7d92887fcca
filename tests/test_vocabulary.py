"""The words of the project: CONTRIBUTING lists them. Words that were replaced do not come back."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = sorted((ROOT / "src").rglob("*.py"))
TEMPLATES = sorted(path for kind in ("html", "js", "css") for path in (ROOT / "src").rglob(f"*.{kind}"))
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]
# Identifiers in src that say nothing to a newcomer, or that mean something else elsewhere.
IDENTIFIERS = {
    *(
        "place",
        "places",
        "said",
        "fewest",
        "asked_to_stop",
        "lineup",
        "rehearsal",
        "laid_out_like",
        "still_computes",
    ),
    *("Watch", "Game", "Side", "Captured", "Lent", "Described", "Glimpse", "Told", "Kin", "ByHand", "Facts"),
    *("Contest", "Exhibit", "Foreword", "Subject", "Knowledge", "Upright", "Halving", "Doubling", "Joined"),
    *("not_captured", "sizes_strands", "sized_by", "drawn_once", "siblings", "under_law", "with_law", "LAW"),
    *("keeping_statistics", "whole_codes", "drawn_codes", "over_batches", "told_apart", "shares_of_change"),
    *("dataset_of", "dataset_beside", "scoring_of", "scores_of", "do_and_log", "goes_on", "at_once"),
}
# Words and phrases in pages, docstrings, messages and comments.
PHRASES = (
    *(
        "colour",
        "grey",
        "optimis",
        "normalis",
        "standardis",
        "regularis",
        "initialis",
        "neighbour",
        "licence",
    ),
    *("catalogue", "labelled ", "behaviour", "one's own", "ones own", "leak`", "`undone`", "active_codes"),
    *(
        "--least",
        "--bottleneck",
        "--settled",
        "--opening",
        "--undo",
        "--reweigh",
        "--guard",
        "--part ",
        "--rate ",
    ),
    *("--codes", "--optimiser", "--hold-out", "--law-seed", "--free ", "--members", "--inks", "data get "),
)
WHERE_OLD_NAMES_ARE_ACCEPTED = ("cli/spelling.py", "unbraid/settings.py", "schedules.py", "studies/select")


def identifiers(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that a file defines or uses, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno


def test_identifiers_are_the_fields_own() -> None:
    old = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in SOURCE
        for name, line in identifiers(ast.parse(path.read_text()))
        if name in IDENTIFIERS
    ]
    assert not old


def test_prose_has_no_words_that_were_replaced() -> None:
    old = []
    for path in (*SOURCE, *TEMPLATES, *PAGES, ROOT / "pyproject.toml"):
        if any(file in str(path) for file in WHERE_OLD_NAMES_ARE_ACCEPTED):
            continue
        text = re.sub(
            r"https?://\S+|derive_seed\([^\n]*|cmap=\"Greys\"", "", path.read_text()
        )  # seeds are numbers
        for phrase in PHRASES:
            for match in re.finditer(re.escape(phrase), text, re.IGNORECASE):
                line = text[: match.start()].count("\n") + 1
                old.append(f"{path.relative_to(ROOT)}:{line}: {phrase}")
    assert not old
