"""One run as shown in a report: summary, figures, charts and the command that reproduces the run."""

import inspect
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from unbraid.custom_code import CodeNotNamed
from unbraid.files import write_atomically
from unbraid.options import first_sentence
from unbraid.progress import duration
from unbraid.report.charts import Chart, curve_chart, curves_of, file_bytes, kl_chart
from unbraid.report.command import command_of
from unbraid.report.figure_table import FigureEntry, FigureFunction
from unbraid.report.figures import Figure
from unbraid.report.image_grid import png_bytes
from unbraid.report.probe_table import ProbeTable, probe_table
from unbraid.report.run_figures import ROWS, RunFigures, Unscored, make_figures, named_entry, shows_images
from unbraid.report.scores import kl_table
from unbraid.report.subembeddings import accuracy_chart, strand_accuracies
from unbraid.runs import Run, load, method_of, training_dataset

EXPLORER = "explorer.html"  # in the run folder


class RunView(NamedTuple):
    """One run as shown in a report."""

    run: Run
    label: str  # unique on the page
    method: str  # name as written in its paper
    citation: str
    sentence: str
    summary: str
    figures: dict[str, Figure]
    charts: dict[str, Chart]
    probe_table: ProbeTable | None  # None without a score
    missing: str  # which figures are missing, and why
    unscored: Unscored  # what lacks a score, and which metrics compute it
    command: str
    no_command: str  # why there is no command
    explorer: str = ""  # URL of the explorer relative to the page, if it exists


def view_run(
    run: Run,
    label: str,
    root: Path | str | None = None,
    *,
    figures: Sequence[str | FigureFunction | FigureEntry] = (),
    needs_code: bool = False,
) -> RunView:
    """Everything that a report shows of a run; `missing` names what could not be drawn.

    Args:
        run: The run.
        label: Its label, unique on the page.
        root: Data root, for runs on official files.
        figures: Figures to draw. Default: those that the method chooses.
        needs_code: Whether to raise if the run uses your own code that was not named, instead of leaving out figures.
    """
    for figure in figures:
        named_entry(figure)  # raises for an unknown name
    method, citation, sentence = about(run)
    try:
        model, dataset = load(run.folder, device="cpu").without_columns(), training_dataset(run, root)
    except (ValueError, OSError, RuntimeError) as error:
        if needs_code and isinstance(error, CodeNotNamed):
            raise
        result = RunFigures({}, {}, f"No figures for this run. {error}" if shows_images(run) else ROWS)
    else:
        result = make_figures(model, dataset, figures)
    try:
        command, no_command = command_of(run), ""
    except ValueError as error:
        command, no_command = "", f"No command line reproduces this run: {error}."
    return RunView(
        run=run,
        label=label,
        method=method,
        citation=citation,
        sentence=sentence,
        summary=_summary(run),
        figures=result.figures,
        charts=result.charts,
        probe_table=probe_table(run),
        missing=result.missing,
        unscored=result.unscored,
        command=command,
        no_command=no_command,
    )


def _summary(run: Run) -> str:
    data, training, history = run.settings["data"], run.settings["training"], run.history()
    took = f", in {duration(history[-1]['seconds'])}" if history else ""
    kind = "images" if shows_images(run) else "rows"
    return (
        f"{training['steps']:,} steps of batch size {training['batch_size']:,} on {data['name']} "
        f"({data['observations']:,} {kind} of {'×'.join(map(str, data['shape']))}), seed {run.seed}{took}."
    )


def with_explorers(views: Sequence[RunView], page: Path) -> list[RunView]:
    """The views with links to their explorers. An explorer older than the weights of its run is not linked."""
    linked = []
    for view in views:
        path, weights = view.run.folder / EXPLORER, view.run.folder / "model.safetensors"
        if path.exists() and path.stat().st_mtime >= weights.stat().st_mtime:
            target = os.path.relpath(path.resolve(), page.parent.resolve())
            view = view._replace(explorer=quote(Path(target).as_posix()))
        linked.append(view)
    return linked


def labels_of(runs: Sequence[Run]) -> list[str]:
    """A unique label per run: its method, and its folder if several runs have the same method."""
    names = Counter(run.method_name for run in runs)
    labels = [
        run.method_name if names[run.method_name] == 1 else f"{run.method_name}, {run.folder.name}"
        for run in runs
    ]
    twice = Counter(labels)
    return [
        label if twice[label] == 1 else f"{label} ({index})" for index, label in enumerate(labels, start=1)
    ]


def probe_accuracies(run: Run) -> dict[str, dict[str, float]]:
    """Probe accuracies of the strands within a strand, by title; empty without a `disentanglement_gap` score."""
    tables = strand_accuracies(run)
    return {f"accuracy in %, strands of {strand}": table for strand, table in tables.items()}


def save_figures(view: RunView) -> None:
    """Writes the figures as PNG files into the run folder."""
    folder = view.run.folder / "figures"
    folder.mkdir(exist_ok=True)
    for name, figure in view.figures.items():
        write_atomically(folder / f"{name}.png", png_bytes(figure.sheet()))
    for name, chart in view.charts.items():
        write_atomically(folder / f"{name}.png", chart.png)
    curves = curves_of({view.label: view.run.history()})
    for term in curves:
        chart = curve_chart(term, curves)
        write_atomically(folder / f"curve-{_file_name(term)}.png", file_bytes(chart, "png"))
    if tables := probe_accuracies(view.run):
        write_atomically(folder / "subembeddings.png", file_bytes(accuracy_chart(tables), "png"))
    if (table := kl_table(view.run)) is not None:
        per_dim = np.array([row.kl for row in sorted(table.rows, key=lambda row: row.dim)])
        write_atomically(folder / "kl.png", file_bytes(kl_chart(per_dim), "png"))


def about(run: Run) -> tuple[str, str, str]:
    """Name and citation of the method from its module, and the first sentence of its class.

    Your own method has the name of its class and no citation.
    """
    try:
        cls = method_of(run)
    except ValueError:
        return run.method_name, "", ""
    sentence = first_sentence(cls) if "__doc__" in vars(cls) and cls.__doc__ else ""
    if not cls.__module__.startswith("unbraid."):
        return run.method_name, "", sentence
    name, _, citation = first_sentence(inspect.getmodule(cls)).partition(". ")
    return name or run.method_name, citation, sentence


def _file_name(term: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in term)
