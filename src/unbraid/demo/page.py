"""The demo page: each system with a figure, its score and the score of its baseline."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from unbraid.files import write_atomically
from unbraid.report import Chart, Figure, templates


class HeadlineScore(NamedTuple):
    """One score of a system and of its baseline."""

    name: str
    system: float
    baseline: float
    baseline_name: str
    description: str
    chance: float | None = None
    higher_is_better: bool | None = None  # None: neither direction is better


class DemoSection(NamedTuple):
    """One system on the page."""

    title: str
    paragraphs: Sequence[str]
    score: HeadlineScore
    key: str = ""  # its anchor
    method: str = ""
    citation: str = ""
    figure: Figure | None = None
    chart: Chart | None = None
    what_to_look_for: str = ""
    explorer: str | None = None  # path of its explorer, relative to the page
    commands: Sequence[tuple[str, str]] = ()  # a sentence and a command
    trained: Sequence[tuple[str, str]] = ()  # a description of a run and the command that repeats it


def write_demo_page(
    sections: Sequence[DemoSection],
    out: Path | str,
    *,
    title: str,
    paragraphs: Sequence[str] = (),
    after: Sequence[str] = (),
) -> Path:
    """Writes one self-contained HTML page about several systems.

    Args:
        sections: Systems in the order of the page.
        out: HTML file.
        title: Title of the page.
        paragraphs: Paragraphs at the top.
        after: Paragraphs below the cards with all scores.
    """
    if not sections:
        raise ValueError("A demo page needs at least one system.")
    path = Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    page = templates(Path(__file__).parent, lossy=True).get_template("demo.html")
    text = page.render(title=title, sections=sections, paragraphs=paragraphs, after=after)
    write_atomically(path, text.encode())
    return path
