"""The report: one HTML page about one run or several, with everything it needs inside."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from unbraid.report.charts import Curves, curve_chart, curves_of, file_bytes
from unbraid.report.figures import ACTIVE
from unbraid.report.pictures import ALL_FIGURES
from unbraid.report.rendering import templates, uri
from unbraid.report.scores import knowledge, score_rows
from unbraid.report.settings import settings_of, side_by_side
from unbraid.report.subembeddings import accuracy_chart
from unbraid.report.subjects import Subject, labels_of, part_tables, save_figures, subject_of, with_explorers
from unbraid.runs import Run, write_atomically


class Foreword(NamedTuple):
    """What a page says before the numbers, in plain words, and what it offers to do next."""

    paragraphs: Sequence[str] = ()
    remarks: Mapping[str, str] = {}
    commands: Sequence[tuple[str, str]] = ()  # a sentence and what to type


def write_report(
    runs: Sequence[Run | Path | str],
    out: Path | str | None = None,
    *,
    title: str | None = None,
    root: Path | str | None = None,
    foreword: Foreword | None = None,
) -> Path:
    """Writes one self-contained HTML page about finished runs, and each run's figures into its folder.

    Args:
        runs: Run folders, one or several to set side by side.
        out: The HTML file; `report.html` in the folder of a single run by default.
        title: The page's title; made from the runs otherwise.
        root: The data root, for runs on official files.
        foreword: Words before the numbers.
    """
    opened = [run if isinstance(run, Run) else Run(run) for run in runs]
    if not opened:
        raise ValueError("A report needs at least one run.")
    if out is None and len(opened) > 1:
        raise ValueError(
            "A report on several runs needs a file to be written to: give out, or --out FILE.html."
        )
    for run in opened:
        if not run.finished:
            raise ValueError(
                f"{run.folder} is unfinished: train it to its end with --resume, then report on it."
            )
    subjects = [subject_of(run, label, root) for run, label in zip(opened, labels_of(opened), strict=True)]
    curves = curves_of({subject.label: subject.run.history() for subject in subjects})
    for subject in subjects:
        save_figures(subject)
    path = opened[0].folder / "report.html" if out is None else Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    subjects = with_explorers(subjects, path)
    content = render(subjects, curves, title or _title(subjects), foreword or Foreword())
    write_atomically(path, content.encode())
    return path


def render(subjects: Sequence[Subject], curves: Curves, title: str, foreword: Foreword) -> str:
    """The page as text."""
    return (
        templates()
        .get_template("page.html")
        .render(
            title=title,
            foreword=foreword,
            scores=score_rows({subject.label: subject.run.scores() for subject in subjects}),
            **shared(subjects, curves),
        )
    )


def shared(subjects: Sequence[Subject], curves: Curves) -> dict[str, object]:
    """What pages about runs and pages about studies show alike."""
    return {
        "subjects": subjects,
        "active": ACTIVE,
        "knowledge": {subject.label: knowledge(subject.run) for subject in subjects},
        "charts": [chart_uris(term, curves) for term in curves],
        "tables": [
            (subject.label, *_table_uris(subject.run)) for subject in subjects if part_tables(subject.run)
        ],
        "figures": {name: heading for name, (heading, _) in ALL_FIGURES.items()},
        "settings": side_by_side({subject.label: settings_of(subject.run) for subject in subjects}),
        "versions": side_by_side({subject.label: subject.run.versions() for subject in subjects}),
    }


def _title(subjects: Sequence[Subject]) -> str:
    methods = " and ".join(dict.fromkeys(subject.method for subject in subjects))
    data = " and ".join(dict.fromkeys(subject.run.data_name for subject in subjects))
    return f"{methods} on {data}"


def chart_uris(term: str, curves: Curves) -> tuple[str, str, str]:
    """The name of a term, and its chart on light and on dark ground."""
    light, dark = (file_bytes(curve_chart(term, curves, dark=dark), "svg") for dark in (False, True))
    return term, uri(light, "image/svg+xml"), uri(dark, "image/svg+xml")


def _table_uris(run: Run) -> tuple[str, str]:
    """Those tables as a chart on light and on dark ground."""
    charts = [accuracy_chart(part_tables(run), dark=dark) for dark in (False, True)]
    light, dark = (uri(file_bytes(chart, "svg"), "image/svg+xml") for chart in charts)
    return light, dark
