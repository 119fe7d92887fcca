"""The report: one HTML page about one run or several, with everything it needs inside."""

import base64
import inspect
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unbraid.data.dataset import Dataset
from unbraid.model import Model, load, method_class
from unbraid.progress import duration
from unbraid.reopen import dataset_of
from unbraid.report.charts import Curves, curve_chart, curves_of, file_bytes, kl_chart
from unbraid.report.command import command_of
from unbraid.report.contrast import CONTRAST_FIGURES, contrasts
from unbraid.report.figures import ACTIVE, Figure, reconstructions, swaps, traversals
from unbraid.report.flows import flow_charts, variables
from unbraid.report.intervention import (
    importance_chart,
    joint_chart,
    neighbours,
    noted,
    quantile_traversals,
)
from unbraid.report.scores import knowledge, score_rows
from unbraid.report.sheets import image_strip, png_bytes
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
    "quantiles": ("From quantile to quantile", quantile_traversals),
    "neighbours": ("Neighbours by strand", neighbours),
}
VIEW_FIGURES: dict[
    str, tuple[str, Callable[..., Figure]]
] = {  # of methods that learn from views, without a decoder
    "view_pairs": ("View pairs", lambda model, dataset: view_pairs(dataset)),
}
FLOW_FIGURES: dict[str, tuple[str, Callable[..., Figure]]] = {  # of flows, whose codes are many
    "reconstructions": FIGURES["reconstructions"],
    "variables": ("What each code does", variables),
}


class Chart(NamedTuple):
    """A chart of one run, on light and on dark ground."""

    heading: str
    caption: str
    light: bytes
    dark: bytes
    png: bytes


class Foreword(NamedTuple):
    """What a page says before the numbers, in plain words, and what it offers to do next."""

    paragraphs: Sequence[str] = ()
    remarks: Mapping[str, str] = {}
    commands: Sequence[tuple[str, str]] = ()  # a sentence and what to type


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
    missing: str  # why there are no figures, or not all of them
    command: str
    no_command: str  # why there is none


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
    subjects = [_subject(run, label, root) for run, label in zip(opened, _labels(opened), strict=True)]
    curves = curves_of({subject.label: subject.run.history() for subject in subjects})
    for subject in subjects:
        _save_figures(subject)
    path = opened[0].folder / "report.html" if out is None else Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = render(subjects, curves, title or _title(subjects), foreword or Foreword())
    write_atomically(path, content.encode())
    return path


def render(subjects: Sequence[Subject], curves: Curves, title: str, foreword: Foreword) -> str:
    """The page as text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["strip"] = lambda images: _uri(png_bytes(image_strip(images)), "image/png")
    templates.filters["svg"] = lambda chart: _uri(chart, "image/svg+xml")
    templates.filters["number"] = number
    templates.filters["unbroken"] = _unbroken
    templates.filters["counted"] = lambda value: f"{value:,}"
    labels = [subject.label for subject in subjects]
    return templates.get_template("page.html").render(
        title=title,
        foreword=foreword,
        subjects=subjects,
        scores=score_rows({subject.label: subject.run.scores() for subject in subjects}),
        active=ACTIVE,
        knowledge={subject.label: knowledge(subject.run) for subject in subjects},
        charts=[_chart_uris(term, curves) for term in curves],
        tables=[(subject.label, *_table_uris(subject.run)) for subject in subjects if _tables(subject.run)],
        figures={
            name: heading
            for name, (heading, _) in (FIGURES | VIEW_FIGURES | CONTRAST_FIGURES | FLOW_FIGURES).items()
        },
        settings=_side_by_side({s.label: _settings(s.run) for s in subjects}, labels),
        versions=_side_by_side({s.label: _versions(s.run) for s in subjects}, labels),
    )


def number(value: float | int) -> str:
    """A score in four digits at most."""
    return "not a number" if np.isnan(value) else f"{value:.4g}".replace("-", "−")


def _subject(run: Run, label: str, root: Path | str | None) -> Subject:
    method, citation, sentence = _about(run)
    figures, charts, missing = _figures(run, root)
    try:
        command, no_command = command_of(run), ""
    except ValueError as error:
        command, no_command = "", f"No command line repeats this run: {error}."
    data, training = run.settings["data"], run.settings["training"]
    draw, history = run.settings["draw"]["name"], run.history()
    took = f", in {duration(history[-1]['seconds'])}" if history else ""
    kind = "images" if len(data["shape"]) == 3 else "rows"
    summary = (
        f"{training['steps']:,} steps of {training['batch']:,} {draw.lower()} from {data['name']} "
        f"({data['observations']:,} {kind} of {'×'.join(map(str, data['shape']))}), seed {run.seed}{took}."
    )
    return Subject(
        run, label, method, citation, sentence, summary, figures, charts, missing, command, no_command
    )


def _figures(run: Run, root: Path | str | None) -> tuple[dict[str, Figure], dict[str, Chart], str]:
    """The figures and charts that can be made, and a sentence on those that cannot."""
    rows, flow = len(run.settings["data"]["shape"]) != 3, "flow" in run.settings["method"]["arguments"]
    if rows and not flow:
        return {}, {}, "There are no pictures: the observations are rows, not images."
    try:
        model = load(run.folder, device="cpu")
        dataset = dataset_of(run, root)
    except (ValueError, OSError, RuntimeError) as error:
        return {}, {}, f"There are no pictures of this run. {error}"
    figures: dict[str, Figure] = {}
    charts: dict[str, Chart] = {}
    missing: list[str] = []
    wanted = VIEW_FIGURES if model.method.batch is ViewBatch else FLOW_FIGURES if flow else FIGURES
    wanted = wanted | (CONTRAST_FIGURES if contrasts(model, dataset) else {})
    for name, (_, figure) in ({} if rows else wanted).items():
        if name == "strands" and not {"predictive", "nuisance"} <= set(model.strands):
            continue
        if name == "quantiles" and hasattr(model.method, "posterior") and not _correlated(dataset):
            continue  # whose codes have a prior, so that fixed values will do
        if name == "neighbours" and not getattr(model.method, "blocks", ()):
            continue
        try:
            notes = noted(_importances(run, dataset), _correlated(dataset)) if name == "quantiles" else {}
            figures[name] = figure(model, dataset, **notes)
        except ValueError as error:
            missing.append(str(error))
    if flow:
        charts = {name: _chart(*parts) for name, parts in flow_charts(model, dataset).items()}
    elif len(model.strands) > 1 and dataset.space is not None:
        try:
            charts = _strand_charts(model, dataset)
        except ValueError as error:
            missing.append(str(error))
    charts |= _factor_charts(run, dataset)
    return (
        figures,
        charts,
        " ".join(["Not every picture could be made.", *dict.fromkeys(missing)] if missing else []),
    )


def _chart(heading: str, caption: str, draw: Callable[..., Any]) -> Chart:
    light, dark = (file_bytes(draw(dark=dark), "svg") for dark in (False, True))
    return Chart(heading, caption, light, dark, file_bytes(draw(dark=False), "png"))


def _correlated(dataset: Dataset) -> tuple[str, ...]:
    """The two factors that training showed correlated, if any."""
    return tuple((dataset.origin or {}).get("options", {}).get("correlate", ()))


def _importances(run: Run, dataset: Dataset) -> dict[str, np.ndarray]:
    """How much each code matters for each factor, as DCI last found it; nothing where it was not asked."""
    found = [score for score in run.scores() if score["metric"] == "dci" and "evidence" in score]
    if not found or dataset.space is None:
        return {}
    sizes = zip(dataset.space.names, dataset.space.sizes, strict=True)
    names = [name for name, size in sizes if size > 1 and name != dataset.instance]
    table = np.asarray(found[-1]["evidence"]["importances"])
    return dict(zip(names, table.T, strict=True)) if table.shape[1] == len(names) else {}


def _factor_charts(run: Run, dataset: Dataset) -> dict[str, Chart]:
    """The joint distribution of factors that training showed correlated, and what DCI found each code to matter for."""
    pair = _correlated(dataset)
    charts = {}
    if pair:
        charts["joint"] = _chart(
            "Correlated factors",
            f"How often training shows {pair[0]} and {pair[1]} together; 1 is the most frequent pair of values.",
            lambda dark: joint_chart(dataset, *pair, dark=dark),
        )
    if found := _importances(run, dataset):
        importances, names = np.stack(list(found.values()), 1), list(found)
        charts["importance"] = _chart(
            "What each code matters for",
            "Importance of each code in predicting each factor, as DCI has it"
            + (", the correlated factors in red." if pair else "."),
            lambda dark: importance_chart(importances, names, highlight=pair, dark=dark),
        )
    return charts


def _strand_charts(model: Model, dataset: Dataset) -> dict[str, Chart]:
    """How far codes move when one factor changes, and a map of each strand."""
    changes, maps = code_changes(model, dataset), strand_maps(model, dataset)
    return {
        "changes": _chart(
            "What each factor moves",
            "How far each code moves when one factor changes; 1 is as far as between two images drawn at random.",
            lambda dark: change_chart(changes, model.strands, dark=dark),
        ),
        "maps": _chart(
            "Maps of the strands",
            f"t-SNE maps of each strand, coloured by {maps.factor}.",
            lambda dark: map_chart(maps, dark=dark),
        ),
    }


def _save_figures(subject: Subject) -> None:
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
    if tables := _tables(subject.run):
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


def _labels(runs: Sequence[Run]) -> list[str]:
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


def _title(subjects: Sequence[Subject]) -> str:
    methods = " and ".join(dict.fromkeys(subject.method for subject in subjects))
    data = " and ".join(dict.fromkeys(subject.run.data_name for subject in subjects))
    return f"{methods} on {data}"


def _settings(run: Run) -> dict[str, str]:
    groups = {
        "method": {"method": run.method_name, **run.settings["method"]["arguments"]},
        "data": {key: value for key, value in run.settings["data"].items() if key != "origin"},
        "draw": {"draw": run.settings["draw"]["name"], **run.settings["draw"]["arguments"]},
        "training": run.settings["training"],
    }
    return {name: _words(value) for group in groups.values() for name, value in group.items()}


def _versions(run: Run) -> dict[str, str]:
    path = run.folder / "versions.json"
    return json.loads(path.read_text()) if path.exists() else {}


def _side_by_side(
    tables: Mapping[str, Mapping[str, str]], labels: Sequence[str]
) -> list[tuple[str, list[str], bool]]:
    """Each name once with every run's value, and whether they differ."""
    names = dict.fromkeys(name for table in tables.values() for name in table)
    rows = [(name, [tables[label].get(name, "–") for label in labels]) for name in names]
    return [(name, values, len(set(values)) > 1) for name, values in rows]


def _words(value: Any) -> str:
    """A setting as a person would write it."""
    if value is None or value == "" or value == [] or value == {}:
        return "none"
    if isinstance(value, dict):
        if "plain" in value:
            return value["plain"]
        if "own" in value:
            return value["own"]
        if "network" in value:
            return f"{value['network']} ({_words(value['arguments'])})"
        return ", ".join(f"{key} {_words(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        whole = all(isinstance(entry, int) for entry in value)
        return "×".join(map(str, value)) if whole else ", ".join(map(_words, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _unbroken(command: str) -> str:
    """A command whose options no browser breaks at their hyphens."""
    from markupsafe import Markup

    word = Markup("<span>{}</span>").format
    lines = [Markup(" ").join(word(part) for part in line.split(" ")) for line in command.split("\n")]
    return Markup("\n").join(lines)


def _chart_uris(term: str, curves: Curves) -> tuple[str, str, str]:
    """The name of a term, and its chart on light and on dark ground."""
    light, dark = (file_bytes(curve_chart(term, curves, dark=dark), "svg") for dark in (False, True))
    return term, _uri(light, "image/svg+xml"), _uri(dark, "image/svg+xml")


def _tables(run: Run) -> dict[str, dict[str, float]]:
    """What each part of r and of z tells, where the run was scored so."""
    tables = {strand: accuracies(run, strand) for strand in ("r", "z")}
    return {f"accuracy in %, parts of {strand}": table for strand, table in tables.items() if table}


def _table_uris(run: Run) -> tuple[str, str]:
    """Those tables as a chart on light and on dark ground."""
    charts = [accuracy_chart(_tables(run), dark=dark) for dark in (False, True)]
    light, dark = (_uri(file_bytes(chart, "svg"), "image/svg+xml") for chart in charts)
    return light, dark


def _uri(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _file_name(term: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in term)
