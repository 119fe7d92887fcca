"""Tables of a study's scores as papers print them: mean ± spread over n seeds, the best in bold."""

import html as markup
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from unbraid.naming import choose

# By method and metric, and between them a dataset, a setting or both; None keeps a variation that nobody published from
# being taken for its method. A metric alone, with None, is a further number that tables show and nobody published.
Published = Mapping[tuple[str, ...], float | None]
# Of which scores less is more; of which neither; of all others more is better.
LOWER = (
    *("reconstruction", "background_reconstruction", "background_distance", "background_norm"),
    *("gaussian_total_correlation", "translation_difficulty", "inversion"),
)
NEITHER = ("kl", "active_codes", "active_features", "leak", "w2", "bootstrap")
TOLD_APART = ("clustering", "class_accuracy", "probe")  # of a common strand, the less the better
SPECIAL = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


class Row(NamedTuple):
    """One line of a study's table: a score over the seeds of one setting."""

    method: str
    data: str
    settings: dict[str, Any]  # those that vary between the method's runs
    metric: str
    protocol: str
    mean: float
    std: float | None  # over seeds; None for a single one
    n: int
    published: float | None
    samples: int = 0  # that a seed was scored on, the fewest of all; 0 where the metric does not say


class Cell(NamedTuple):
    """A score over seeds, where it stands in a table."""

    mean: str
    spread: str  # empty for a single seed
    n: int
    published: str  # empty where there is none
    best: bool  # of all on the same data


class Table(NamedTuple):
    """A line for each method, dataset and settings, a column for each score."""

    names: tuple[str, ...]  # of what tells the lines apart: method, data, settings
    scores: tuple[tuple[str, str], ...]  # metric and protocol
    lines: tuple[tuple[tuple[str, ...], tuple[Cell | None, ...]], ...]
    note: str


def table(rows: Iterable[Row], published: Published | None = None) -> Table:
    """The scores of a study; a metric's further numbers where `published` names them."""
    further = {key[-1] for key in published or {}}
    shown = [row for row in rows if "." not in row.metric or row.metric in further]
    columns = list(dict.fromkeys((row.metric, row.protocol) for row in shown))
    best = _best(shown)
    lines: dict[tuple[str, ...], dict[tuple[str, str], Cell]] = {}
    for row in shown:
        said = ", ".join(f"{name} {written(value)}" for name, value in row.settings.items())
        mean, spread = numbers(row.mean, row.std)
        paper = "" if row.published is None else f"{row.published:.4g}"
        first = best.get((row.data, row.metric, row.protocol)) == row.mean
        cell = Cell(mean, spread, row.n, paper, first)
        lines.setdefault((row.method, row.data, said), {})[row.metric, row.protocol] = cell
    names = ("method", "data", "settings") if any(key[2] for key in lines) else ("method", "data")
    note = f"Mean ± standard deviation over n seeds{_sampled(shown)}; the best mean on a dataset is in bold"
    note += "; published values in brackets." if any(row.published is not None for row in shown) else "."
    return Table(
        names,
        tuple(columns),
        tuple((key[: len(names)], tuple(map(cells.get, columns))) for key, cells in lines.items()),
        note,
    )


def markdown(rows: Sequence[Row], published: Published | None = None) -> str:
    """The table in Markdown."""
    found = table(rows, published)
    heading = [*found.names, *_headings(found)]
    lines = [heading, ["---"] * len(heading)]
    lines += [[*key, *(_plain(cell, "**{}**") for cell in cells)] for key, cells in found.lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + f"\n\n{found.note}\n"


def latex(rows: Sequence[Row], published: Published | None = None) -> str:
    """The table in LaTeX; it needs the package booktabs."""
    found = table(rows, published)
    heading = " & ".join(map(_escaped, [*found.names, *_headings(found)]))
    lines = [" & ".join([*map(_escaped, key), *map(_in_latex, cells)]) + r" \\" for key, cells in found.lines]
    columns = "l" * len(found.names) + "r" * len(found.scores)
    note = "% " + found.note.replace("±", "+-")
    head = [note, rf"\begin{{tabular}}{{{columns}}}", r"\toprule", heading + r" \\", r"\midrule"]
    return "\n".join([*head, *lines, r"\bottomrule", r"\end{tabular}", ""])


def html(rows: Sequence[Row], published: Published | None = None) -> str:
    """The table in HTML; what all lines share of their data is said once, above."""
    found = table(rows, published)
    datasets = {key[1] for key, _ in found.lines}
    shown = [place for place, name in enumerate(found.names) if name != "data" or len(datasets) > 1]
    heading = [markup.escape(found.names[place]) for place in shown]
    heading += [
        markup.escape(metric) + (f" <small>{markup.escape(law)}</small>" if law else "")
        for metric, law in found.scores
    ]
    lines = [
        "<tr>"
        + f'<th scope="row">{markup.escape(key[0])}</th>'
        + "".join(f"<td>{markup.escape(key[place])}</td>" for place in shown[1:])
        + "".join(f'<td class="score">{_in_html(cell)}</td>' for cell in cells)
        + "</tr>"
        for key, cells in found.lines
    ]
    caption = markup.escape((f"{datasets.pop()}. " if len(datasets) == 1 else "") + found.note)
    columns = "".join(f'<th scope="col">{name}</th>' for name in heading)
    head = ['<table class="results">', f"<caption>{caption}</caption>", f"<thead><tr>{columns}</tr></thead>"]
    return "\n".join([*head, "<tbody>", *lines, "</tbody>", "</table>", ""])


FORMS: dict[str, Callable[..., str]] = {"md": markdown, "latex": latex, "html": html}


def in_form(form: str, rows: Sequence[Row], published: Published | None = None) -> str:
    """The table as `md`, `latex` or `html`."""
    return choose("form of a table", form, FORMS)(rows, published)


def direction(metric: str) -> int:
    """1 if more of a score is better, -1 if less, 0 if neither: `common:clustering` tells what it should not."""
    strand, _, name = metric.rpartition(":")
    name, _, further = name.partition(".")
    if name in NEITHER or further == "chance" or further in NEITHER:
        return 0
    if name in LOWER or (strand == "common" and name in TOLD_APART):
        return -1
    return 1


def numbers(mean: float, std: float | None) -> tuple[str, str]:
    """A mean and its spread with as many decimals as two digits of the spread need, four at most."""
    if std is None or not math.isfinite(std) or not math.isfinite(mean):
        return f"{mean:.4g}", ""
    if std == 0:
        return f"{mean:.4g}", "0"
    decimals = min(4, max(0, 1 - math.floor(math.log10(std))))
    return f"{mean:.{decimals}f}", f"{std:.{decimals}f}"


def written(value: Any) -> str:
    """A setting as a table has it; several values as the command line has them."""
    if isinstance(value, list | tuple):
        return ",".join(map(written, value)) or "none"
    return value["plain"] if isinstance(value, dict) and "plain" in value else str(value)


def _sampled(rows: Iterable[Row]) -> str:
    """How many samples the scores are of, by dataset where that differs."""
    counts: dict[str, list[int]] = {}
    for row in rows:
        if row.samples:
            counts.setdefault(row.data, []).append(row.samples)
    said = {
        data: f"{max(found)}" if len(set(found)) == 1 else f"{min(found)} to {max(found)}"
        for data, found in counts.items()
    }
    if len(set(said.values())) < 2:
        return "".join(f", each scored on {count} samples" for count in set(said.values()))
    return ", each scored on " + ", ".join(f"{count} samples of {data}" for data, count in said.items())


def _best(rows: Iterable[Row]) -> dict[tuple[str, str, str], float]:
    """The best mean of each score on each dataset, where there are several to choose from."""
    means: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        if math.isfinite(row.mean):
            means.setdefault((row.data, row.metric, row.protocol), []).append(row.mean)
    return {
        key: max(values, key=lambda value: direction(key[1]) * value)
        for key, values in means.items()
        if len(set(values)) > 1 and direction(key[1])
    }


def _headings(found: Table) -> list[str]:
    return [f"{metric} ({law})" if law else metric for metric, law in found.scores]


def _plain(cell: Cell | None, bold: str) -> str:
    if cell is None:
        return ""
    number = cell.mean + (f" ± {cell.spread}" if cell.spread else "")
    number = bold.format(number) if cell.best else number
    return f"{number} (n={cell.n})" + (f" [{cell.published}]" if cell.published else "")


def _in_latex(cell: Cell | None) -> str:
    if cell is None:
        return ""
    number = cell.mean + (rf" \pm {cell.spread}" if cell.spread else "")
    number = rf"$\mathbf{{{number}}}$" if cell.best else f"${number}$"
    return rf"{number} ($n={cell.n}$)" + (f" [{cell.published}]" if cell.published else "")


def _in_html(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    number = (cell.mean + (f" ± {cell.spread}" if cell.spread else "")).replace("-", "−")
    number = f"<strong>{number}</strong>" if cell.best else number
    paper = f" <small>[{cell.published.replace('-', '−')}]</small>" if cell.published else ""
    return f"{number} <small>n&nbsp;=&nbsp;{cell.n}</small>{paper}"


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in text)
