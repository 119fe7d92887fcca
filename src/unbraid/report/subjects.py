"""One run as a page shows it: what it is, its figures and charts, and the command that repeats it."""

import contextlib
import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unbraid.data.dataset import Dataset
from unbraid.model import Model, load, method_class
from unbraid.progress import duration
from unbraid.reopen import dataset_of
from unbraid.report.charts import curve_chart, curves_of, file_bytes, kl_chart
from unbraid.report.command import command_of
from unbraid.report.contrast import CONTRAST_FIGURES, contrasts
from unbraid.report.figures import Figure, reconstructions, swaps, traversals
from unbraid.report.leaks import Leaks, leaks
from unbraid.report.scores import knowledge
from unbraid.report.sheets import png_bytes
from unbraid.report.strand_charts import change_chart, map_chart
from unbraid.report.strand_figures import code_changes, strand_edits, strand_maps
from unbraid.report.subembeddings import accuracies, accuracy_chart, view_pairs
from unbraid.runs import Run, write_atomically
from unbraid.types import ViewBatch

FIGURES: dict[str, tuple[str, Callable[..., Figure]]] = {
    "reconstructions": ("Reconstructions", reconstructions),
    "traversals": ("Traversals", traversals),
    "swaps": ("Swaps", swaps),
    "strands": ("What each strand holds", strand_edits),
}
VIEW_FIGURES: dict[str, tuple[str, Callable[..., Figure]]] = {  # of methods that learn from views, no decoder
    "view_pairs": ("View pairs", lambda model, dataset: view_pairs(dataset)),
}
ROWS = "There are no pictures: the observations are rows, not images."
ALL_FIGURES = FIGURES | VIEW_FIGURES | CONTRAST_FIGURES


class Chart(NamedTuple):
    """A chart of one run, on light and on dark ground."""

    heading: str
    caption: str
    light: bytes
    dark: bytes
    png: bytes


class Subject(NamedTuple):
    """One run as the page shows it."""

    run: Run
    label: str  # apart from every other run's on the page
    method: str  # as its paper writes it
    citation: str
    sentence: str
    summary: str
    figures: dict[str, Figure]
    charts: dict[str, Chart]
    leaks: Leaks | None  # where the data has nuisances
    missing: str  # why there are no figures, or not all of them
    command: str
    no_command: str  # why there is none


def subject_of(run: Run, label: str, root: Path | str | None = None) -> Subject:
    """Everything that a page shows of a run; what cannot be made is said in `missing`."""
    method, citation, sentence = _about(run)
    figures: dict[str, Figure] = {}
    charts: dict[str, Chart] = {}
    given_away, missing = None, ""
    try:
        model, dataset = load(run.folder, device="cpu"), dataset_of(run, root)
    except (ValueError, OSError, RuntimeError) as error:
        missing = f"There are no pictures of this run. {error}" if _shows_images(run) else ROWS
    else:
        figures, charts, missing = _figures(run, model, dataset)
        with contextlib.suppress(ValueError):  # too few observations for probes
            given_away = leaks(run, model, dataset)
    try:
        command, no_command = command_of(run), ""
    except ValueError as error:
        command, no_command = "", f"No command line repeats this run: {error}."
    data, training = run.settings["data"], run.settings["training"]
    draw, history = run.settings["draw"]["name"], run.history()
    took = f", in {duration(history[-1]['seconds'])}" if history else ""
    kind = "images" if _shows_images(run) else "rows"
    summary = (
        f"{training['steps']:,} steps of {training['batch']:,} {draw.lower()} from {data['name']} "
        f"({data['observations']:,} {kind} of {'×'.join(map(str, data['shape']))}), seed {run.seed}{took}."
    )
    return Subject(
        run,
        label,
        method,
        citation,
        sentence,
        summary,
        figures,
        charts,
        given_away,
        missing,
        command,
        no_command,
    )


def labels_of(runs: Sequence[Run]) -> list[str]:
    """A name for each run: its method, and what tells it from others of the same method."""
    names = Counter(run.method_name for run in runs)
    labels = [
        run.method_name if names[run.method_name] == 1 else f"{run.method_name}, {run.folder.name}"
        for run in runs
    ]
    twice = Counter(labels)
    return [
        label if twice[label] == 1 else f"{label} ({place})" for place, label in enumerate(labels, start=1)
    ]


def part_tables(run: Run) -> dict[str, dict[str, float]]:
    """What each part of r and of z tells, where the run was scored so."""
    tables = {strand: accuracies(run, strand) for strand in ("r", "z")}
    return {f"accuracy in %, parts of {strand}": table for strand, table in tables.items() if table}


def _figures(run: Run, model: Model, dataset: Dataset) -> tuple[dict[str, Figure], dict[str, Chart], str]:
    """The figures and charts that can be made, and a sentence on those that cannot."""
    if not _shows_images(run):
        return {}, {}, ROWS
    figures: dict[str, Figure] = {}
    charts: dict[str, Chart] = {}
    missing: list[str] = []
    wanted = VIEW_FIGURES if model.method.batch is ViewBatch else FIGURES
    wanted = wanted | (CONTRAST_FIGURES if contrasts(model, dataset) else {})
    for name, (_, figure) in wanted.items():
        if name == "strands" and not {"predictive", "nuisance"} <= set(model.strands):
            continue
        try:
            figures[name] = figure(model, dataset)
        except ValueError as error:
            missing.append(str(error))
    if len(model.strands) > 1 and dataset.space is not None:
        try:
            charts = _strand_charts(model, dataset)
        except ValueError as error:
            missing.append(str(error))
    return (
        figures,
        charts,
        " ".join(["Not every picture could be made.", *dict.fromkeys(missing)] if missing else []),
    )


def _strand_charts(model: Model, dataset: Dataset) -> dict[str, Chart]:
    """How far codes move when one factor changes, and a map of each strand."""
    changes, maps = code_changes(model, dataset), strand_maps(model, dataset)
    return {
        "changes": chart_of(
            "What each factor moves",
            "How far each code moves when one factor changes; 1 is as far as between two images drawn at random.",
            lambda dark: change_chart(changes, model.strands, dark=dark),
        ),
        "maps": chart_of(
            "Maps of the strands",
            f"t-SNE maps of each strand, coloured by {maps.factor}.",
            lambda dark: map_chart(maps, dark=dark),
        ),
    }


def chart_of(heading: str, caption: str, draw: Callable[..., Any]) -> Chart:
    """A chart on both grounds, from a function that draws it on a `dark` one or not."""
    light, dark = (file_bytes(draw(dark=dark), "svg") for dark in (False, True))
    return Chart(heading, caption, light, dark, file_bytes(draw(dark=False), "png"))


def save_figures(subject: Subject) -> None:
    """The run's figures as PNG files in its folder."""
    folder = subject.run.folder / "figures"
    folder.mkdir(exist_ok=True)
    for name, figure in subject.figures.items():
        write_atomically(folder / f"{name}.png", png_bytes(figure.sheet()))
    for name, chart in subject.charts.items():
        write_atomically(folder / f"{name}.png", chart.png)
    curves = curves_of({subject.label: subject.run.history()})
    for term in curves:
        chart = curve_chart(term, curves)
        write_atomically(folder / f"curve-{_file_name(term)}.png", file_bytes(chart, "png"))
    if tables := part_tables(subject.run):
        write_atomically(folder / "subembeddings.png", file_bytes(accuracy_chart(tables), "png"))
    if (table := knowledge(subject.run)) is not None:
        per_code = np.array([row.amount for row in sorted(table.rows, key=lambda row: row.code)])
        write_atomically(folder / "kl.png", file_bytes(kl_chart(per_code), "png"))


def _about(run: Run) -> tuple[str, str, str]:
    """The method's name and citation, as its module gives them, and the sentence of its class."""
    try:
        cls = method_class(run.method_name)
    except ValueError:
        return run.method_name, "", ""
    name, _, citation = " ".join((inspect.getdoc(inspect.getmodule(cls)) or "").split()).partition(". ")
    return name or run.method_name, citation, (inspect.getdoc(cls) or "").split("\n\n")[0]


def _shows_images(run: Run) -> bool:
    return len(run.settings["data"]["shape"]) == 3


def _file_name(term: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in term)
