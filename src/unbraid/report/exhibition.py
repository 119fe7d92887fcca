"""A page on which several systems show what they do: each with its picture, its number and that of a plain model."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from unbraid.report.figures import Figure
from unbraid.report.pictures import Chart
from unbraid.report.rendering import templates
from unbraid.runs import write_atomically


class Measure(NamedTuple):
    """One number with the method and without it."""

    name: str  # in plain words
    ours: float
    plain: float
    instead: str  # what the plain number is of
    meaning: str  # a sentence or two
    chance: float | None = None  # what guessing would have


class Exhibit(NamedTuple):
    """One system as the page shows it."""

    key: str  # its anchor
    title: str
    method: str
    citation: str
    paragraphs: Sequence[str]
    measure: Measure
    figure: Figure | None = None
    chart: Chart | None = None
    look: str = ""  # what to look for in them
    explorer: str | None = None  # where its explorer lies, from the page
    commands: Sequence[tuple[str, str]] = ()  # a sentence and what to type
    trained: Sequence[tuple[str, str]] = ()  # what was trained, in words, and the command that repeats it


def write_exhibition(
    exhibits: Sequence[Exhibit],
    out: Path | str,
    *,
    title: str,
    paragraphs: Sequence[str] = (),
    after: Sequence[str] = (),
) -> Path:
    """Writes one self-contained HTML page about several systems.

    Args:
        exhibits: The systems, in their order on the page.
        out: The HTML file.
        title: The page's title.
        paragraphs: What it says first.
        after: What it says under the table of all numbers.
    """
    if not exhibits:
        raise ValueError("An exhibition needs at least one system.")
    path = Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    page = templates(light=True).get_template("exhibition.html")
    text = page.render(title=title, exhibits=exhibits, paragraphs=paragraphs, after=after)
    write_atomically(path, text.encode())
    return path
