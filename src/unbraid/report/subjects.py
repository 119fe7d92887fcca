"""One run as a page shows it: what it is, its figures and charts, and the command that repeats it."""

import contextlib
import inspect
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from unbraid.model import load, method_class
from unbraid.naming import summary
from unbraid.progress import duration
from unbraid.reopen import dataset_of
from unbraid.report.charts import curve_chart, curves_of, file_bytes, kl_chart
from unbraid.report.command import command_of
from unbraid.report.figures import Figure
from unbraid.report.leaks import Leaks, leaks
from unbraid.report.pictures import ROWS, Chart, pictures_of, shows_images
from unbraid.report.scores import knowledge
from unbraid.report.sheets import png_bytes
from unbraid.report.subembeddings import accuracies, accuracy_chart
from unbraid.runs import Run, write_atomically

EXPLORER = "explorer.html"  # in a run's folder, where it was written


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
    explorer: str = ""  # the address of its explorer, seen from the page, where it has one


def subject_of(run: Run, label: str, root: Path | str | None = None) -> Subject:
    """Everything that a page shows of a run; what cannot be made is said in `missing`."""
    method, citation, sentence = about(run)
    figures: dict[str, Figure] = {}
    charts: dict[str, Chart] = {}
    given_away, missing = None, ""
    try:
        model, dataset = load(run.folder, device="cpu"), dataset_of(run, root)
    except (ValueError, OSError, RuntimeError) as error:
        missing = f"There are no pictures of this run. {error}" if shows_images(run) else ROWS
    else:
        figures, charts, missing = pictures_of(run, model, dataset)
        with contextlib.suppress(ValueError):  # too few observations for probes
            given_away = leaks(run, model, dataset)
    try:
        command, no_command = command_of(run), ""
    except ValueError as error:
        command, no_command = "", f"No command line repeats this run: {error}."
    data, training = run.settings["data"], run.settings["training"]
    draw, history = run.settings["draw"]["name"], run.history()
    took = f", in {duration(history[-1]['seconds'])}" if history else ""
    kind = "images" if shows_images(run) else "rows"
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


def with_explorers(subjects: Sequence[Subject], page: Path) -> list[Subject]:
    """The subjects with the addresses of their explorers, as a page there links them.

    Those that were never written have none, nor those that are older than their run's weights.
    """
    found = []
    for subject in subjects:
        path, weights = subject.run.folder / EXPLORER, subject.run.folder / "model.safetensors"
        if path.exists() and path.stat().st_mtime >= weights.stat().st_mtime:
            way = os.path.relpath(path.resolve(), page.parent.resolve())
            subject = subject._replace(explorer=quote(Path(way).as_posix()))
        found.append(subject)
    return found


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


def about(run: Run) -> tuple[str, str, str]:
    """The method's name and citation, as its module gives them, and the sentence of its class."""
    try:
        cls = method_class(run.method_name)
    except ValueError:
        return run.method_name, "", ""
    name, _, citation = summary(inspect.getmodule(cls)).partition(". ")
    return name or run.method_name, citation, summary(cls)


def _file_name(term: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in term)
