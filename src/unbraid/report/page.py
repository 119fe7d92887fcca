"""The report: one self-contained HTML page about one or more runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from unbraid.files import write_atomically
from unbraid.report.charts import Curves, curve_chart, curves_of, file_bytes
from unbraid.report.figure_table import FIGURES, FigureEntry, FigureFunction
from unbraid.report.figures import ACTIVE_THRESHOLD
from unbraid.report.rendering import templates, uri
from unbraid.report.run_view import (
    RunView,
    labels_of,
    probe_accuracies,
    save_figures,
    view_run,
    with_explorers,
)
from unbraid.report.scores import kl_table, score_rows
from unbraid.report.settings import settings_of, side_by_side
from unbraid.report.subembeddings import accuracy_chart
from unbraid.runs import Run


class PageText(NamedTuple):
    """Optional text of a page: introduction, remarks per section, and commands."""

    paragraphs: Sequence[str] = ()
    remarks: Mapping[str, str] = {}
    commands: Sequence[tuple[str, str]] = ()  # sentence and command


def write_report(
    runs: Sequence[Run | Path | str],
    out: Path | str | None = None,
    *,
    title: str | None = None,
    root: Path | str | None = None,
    page_text: PageText | None = None,
    figures: Sequence[str | FigureFunction | FigureEntry] = (),
) -> Path:
    """Writes a self-contained HTML page about finished runs, and the figures of each run to its folder.

    Args:
        runs: Run folders; several are shown side by side.
        out: HTML file. Default: `report.html` in the run folder; required for several runs.
        title: Title of the page. Default: methods and datasets of the runs.
        root: Data root, for runs on official files.
        page_text: Introduction, remarks and commands.
        figures: Names of figures, or your own functions of a model and a dataset. Default: those that the method
            chooses, otherwise all that its abilities allow.
    """
    opened = [run if isinstance(run, Run) else Run(run) for run in runs]
    if not opened:
        raise ValueError("A report needs at least one run.")
    if out is None and len(opened) > 1:
        raise ValueError("A report on several runs needs an output file. Pass out, or --out FILE.html.")
    for run in opened:
        if not run.finished:
            raise ValueError(
                f"{run.folder} is unfinished. Continue its training with --resume before writing a report."
            )
    views = [
        view_run(run, label, root, figures=figures, needs_code=True)
        for run, label in zip(opened, labels_of(opened), strict=True)
    ]
    curves = curves_of({view.label: view.run.history() for view in views})
    for view in views:
        save_figures(view)
    path = opened[0].folder / "report.html" if out is None else Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    views = with_explorers(views, path)
    content = render(views, curves, title or _title(views), page_text or PageText())
    write_atomically(path, content.encode())
    return path


def render(views: Sequence[RunView], curves: Curves, title: str, page_text: PageText) -> str:
    """The page as text."""
    return (
        templates()
        .get_template("page.html")
        .render(
            title=title,
            page_text=page_text,
            scores=score_rows({view.label: view.run.scores() for view in views}),
            **shared(views, curves),
        )
    )


def shared(views: Sequence[RunView], curves: Curves) -> dict[str, object]:
    """Template context that the reports of runs and of studies share."""
    return {
        "views": views,
        "active": ACTIVE_THRESHOLD,
        "kl_tables": {view.label: kl_table(view.run) for view in views},
        "charts": [chart_uris(term, curves) for term in curves],
        "tables": [(view.label, *_table_uris(view.run)) for view in views if probe_accuracies(view.run)],
        "figures": figure_sections(views),
        "settings": side_by_side({view.label: settings_of(view.run) for view in views}),
        "versions": side_by_side({view.label: view.run.versions() for view in views}),
    }


def figure_sections(views: Sequence[RunView]) -> list[tuple[str, str, str]]:
    """Name, anchor and heading of every figure on the page, in the order of the table; your own figures follow."""
    headings = {name: figure.heading for view in views for name, figure in view.figures.items()}
    order = [name for name in FIGURES if name in headings]
    order += [name for name in headings if name not in FIGURES]
    return [(name, name if name in FIGURES else f"figure-{name}", headings[name]) for name in order]


def _title(views: Sequence[RunView]) -> str:
    methods = " and ".join(dict.fromkeys(view.method for view in views))
    data = " and ".join(dict.fromkeys(view.run.data_name for view in views))
    return f"{methods} on {data}"


def chart_uris(term: str, curves: Curves) -> tuple[str, str, str]:
    """The name of a term and its chart for light and for dark backgrounds."""
    light, dark = (file_bytes(curve_chart(term, curves, dark=dark), "svg") for dark in (False, True))
    return term, uri(light, "image/svg+xml"), uri(dark, "image/svg+xml")


def _table_uris(run: Run) -> tuple[str, str]:
    """Chart of the probe accuracies for light and for dark backgrounds."""
    charts = [accuracy_chart(probe_accuracies(run), dark=dark) for dark in (False, True)]
    light, dark = (uri(file_bytes(chart, "svg"), "image/svg+xml") for chart in charts)
    return light, dark
