"""Tables of a study's scores: mean ± standard deviation over n seeds, the best in bold."""

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unbraid.display import escape_latex, escape_markdown
from unbraid.settings import lookup

if TYPE_CHECKING:
    from jinja2 import Template

# Keys: method, optional dataset, optional setting, metric. The value None marks a variation of a method that was not
# published. A key of a metric alone, with None, adds a further number of that metric to the table.
Published = Mapping[tuple[str, ...], float | None]


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
    samples: int = 0  # minimum over seeds; 0 if the metric does not report it
    higher_is_better: bool | None = None  # None: neither direction is better


class Cell(NamedTuple):
    """One score of a table, as text."""

    mean: str
    std: str  # empty for a single seed
    n: int
    published: str  # empty if there is none
    best: bool  # on its dataset


class Table(NamedTuple):
    """One line per method, dataset and setting, one column per score."""

    names: tuple[str, ...]  # of the first columns: method, data, settings, steps
    scores: tuple[tuple[str, str], ...]  # metric and protocol
    lines: tuple[tuple[tuple[str, ...], tuple[Cell | None, ...]], ...]
    note: str


def table(rows: Iterable[Row], published: Published | None = None) -> Table:
    """The scores of a study, with those further numbers of a metric that `published` contains."""
    further = {key[-1] for key in published or {}}
    shown = [row for row in rows if not is_further(row.metric) or row.metric in further]
    columns = list(dict.fromkeys((row.metric, row.protocol) for row in shown))
    best = _best(shown)
    lines: dict[tuple[str, ...], dict[tuple[str, str], Cell]] = {}
    lengths = all("steps" in row.settings for row in shown)  # then they are a column of their own
    for row in shown:
        named = {name: value for name, value in row.settings.items() if not (lengths and name == "steps")}
        settings = ", ".join(f"{name} {format_setting(value)}" for name, value in named.items())
        steps = f"{row.settings['steps']:,}" if lengths else ""
        mean, std = numbers(row.mean, row.std)
        paper = "" if row.published is None else f"{row.published:.4g}"
        is_best = best.get((row.data, row.metric, row.protocol)) == row.mean
        cell = Cell(mean, std, row.n, paper, is_best)
        lines.setdefault((row.method, row.data, settings, steps), {})[row.metric, row.protocol] = cell
    names = ("method", "data", "settings", "steps")
    used = [index for index in range(4) if index < 2 or any(key[index] for key in lines)]
    note = (
        f"Mean ± standard deviation over n seeds{_sample_note(shown)}; the best mean on a dataset is in bold"
    )
    note += "; published values in brackets." if any(row.published is not None for row in shown) else "."
    return Table(
        tuple(names[index] for index in used),
        tuple(columns),
        tuple(
            (tuple(key[index] for index in used), tuple(map(cells.get, columns)))
            for key, cells in lines.items()
        ),
        note,
    )


def markdown(rows: Sequence[Row], published: Published | None = None) -> str:
    """The table in Markdown."""
    content = table(rows, published)
    heading = [*content.names, *map(escape_markdown, _headings(content))]
    lines = [heading, ["---"] * len(heading)]
    lines += [
        [*map(escape_markdown, key), *(_markdown_cell(cell) for cell in cells)]
        for key, cells in content.lines
    ]
    return (
        "\n".join("| " + " | ".join(line) + " |" for line in lines) + f"\n\n{escape_markdown(content.note)}\n"
    )


def latex(rows: Sequence[Row], published: Published | None = None) -> str:
    """The table in LaTeX, for the package booktabs."""
    content = table(rows, published)
    heading = " & ".join(map(escape_latex, [*content.names, *_headings(content)]))
    lines = [
        " & ".join([*map(escape_latex, key), *map(_latex_cell, cells)]) + r" \\"
        for key, cells in content.lines
    ]
    columns = "l" * len(content.names) + "r" * len(content.scores)
    note = "% " + " ".join(content.note.replace("±", "+-").split())  # a comment of one line
    head = [note, rf"\begin{{tabular}}{{{columns}}}", r"\toprule", heading + r" \\", r"\midrule"]
    return "\n".join([*head, *lines, r"\bottomrule", r"\end{tabular}", ""])


def html(rows: Sequence[Row], published: Published | None = None) -> str:
    """The table in HTML; if there is a single dataset, only the caption names it."""
    content = table(rows, published)
    datasets = {key[1] for key, _ in content.lines}
    columns = [index for index, name in enumerate(content.names) if name != "data" or len(datasets) > 1]
    caption = (f"{datasets.pop()}. " if len(datasets) == 1 else "") + content.note
    return _html_template().render(table=content, columns=columns, caption=caption)


FORMATS: dict[str, Callable[..., str]] = {"md": markdown, "latex": latex, "html": html}


def render_table(format: str, rows: Sequence[Row], published: Published | None = None) -> str:
    """The table in the format `md`, `latex` or `html`."""
    return lookup("table format", format, FORMATS)(rows, published)


def sign(higher_is_better: bool | None) -> int:
    """1 if higher is better, -1 if lower is better, 0 if neither direction is better."""
    return 0 if higher_is_better is None else 1 if higher_is_better else -1


def is_further(metric: str) -> bool:
    """Whether a score is a further number of a metric: `dci.completeness`."""
    return "." in metric.rpartition(":")[2]


def numbers(mean: float, std: float | None) -> tuple[str, str]:
    """A mean and its standard deviation with two digits of the latter, and at most four decimals if they show them."""
    if std is None or not math.isfinite(std) or not math.isfinite(mean):
        return f"{mean:.4g}", ""
    if std == 0:
        return f"{mean:.4g}", "0"
    if max(abs(mean), std) < 1e-3:  # four decimals would show next to nothing
        return f"{mean:.3g}", f"{std:.2g}"
    decimals = min(4, max(0, 1 - math.floor(math.log10(std))))
    return f"{mean:.{decimals}f}", f"{std:.{decimals}f}"


def format_setting(value: Any) -> str:
    """A setting as text; several values as on the command line."""
    if isinstance(value, list | tuple):
        return ",".join(map(format_setting, value)) or "none"
    return value["spec"] if isinstance(value, dict) and "spec" in value else str(value)


def _sample_note(rows: Iterable[Row]) -> str:
    """The number of samples per score, by dataset if it differs."""
    counts: dict[str, list[int]] = {}
    for row in rows:
        if row.samples:
            counts.setdefault(row.data, []).append(row.samples)
    ranges = {
        data: f"{max(sizes)}" if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"
        for data, sizes in counts.items()
    }
    if len(set(ranges.values())) < 2:
        return "".join(f", each scored on {count} samples" for count in set(ranges.values()))
    return ", each scored on " + ", ".join(f"{count} samples of {data}" for data, count in ranges.items())


def _best(rows: Iterable[Row]) -> dict[tuple[str, str, str], float]:
    """The best mean of each score on each dataset, where means differ and one direction is better."""
    scores: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if math.isfinite(row.mean):
            scores.setdefault((row.data, row.metric, row.protocol), []).append(row)
    best = {}
    for key, of_score in scores.items():
        means, directions = {row.mean for row in of_score}, {row.higher_is_better for row in of_score}
        if len(means) > 1 and directions in ({True}, {False}):
            best[key] = max(means) if directions == {True} else min(means)
    return best


def _headings(content: Table) -> list[str]:
    return [f"{metric} ({sampling})" if sampling else metric for metric, sampling in content.scores]


def _markdown_cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    number = cell.mean + (f" ± {cell.std}" if cell.std else "")
    number = f"**{number}**" if cell.best else number
    return f"{number} (n={cell.n})" + (f" [{cell.published}]" if cell.published else "")


def _latex_cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    number = cell.mean + (rf" \pm {cell.std}" if cell.std else "")
    number = rf"$\mathbf{{{number}}}$" if cell.best else f"${number}$"
    return rf"{number} ($n={cell.n}$)" + (f" [{cell.published}]" if cell.published else "")


@functools.cache
def _html_template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["minus"] = lambda number: number.replace("-", "−")
    return environment.get_template("table.html")
