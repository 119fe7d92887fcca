"""Which figures and charts a report shows for a run."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from unbraid.custom_code import is_reference, use
from unbraid.data import Dataset
from unbraid.methods import HasFigures
from unbraid.report.charts import Chart
from unbraid.report.figure_table import FIGURES, FigureEntry, FigureFunction
from unbraid.report.figures import Figure
from unbraid.report.stored import stored_score
from unbraid.runs import Model, Run
from unbraid.settings import lookup

PROBES = "strand_probes"  # the metric of the table of linear probes
ROWS = "No figures: the observations are rows, not images."
MAX_HEADING = 80  # characters


class Unscored(NamedTuple):
    """Headings of a page whose scores are not stored, and the metrics that compute the scores."""

    headings: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()


class RunFigures(NamedTuple):
    """The figures and charts of a run by name, a sentence on those that failed, and what lacks a score."""

    figures: dict[str, Figure]
    charts: dict[str, Chart]
    missing: str = ""
    unscored: Unscored = Unscored()


def make_figures(
    model: Model, dataset: Dataset, requested: Sequence[str | FigureFunction | FigureEntry] = ()
) -> RunFigures:
    """All figures and charts of a model.

    Args:
        model: A trained model.
        dataset: The dataset of the run.
        requested: Names of figures, functions of a model and a dataset, or references of your own functions. Default:
            those that the method chooses (`HasFigures`), otherwise all for which it has the abilities.
    """
    entries, problems = _chosen(model, dataset, requested)
    result = RunFigures({}, {})
    for name, entry in entries.items():
        if any(stored_score(model.run, metric) is None for metric in entry.scores):
            continue
        try:
            figure = entry.draw(model, dataset)
        except ValueError as error:
            problems.append(_sentence(error))
        except Exception as error:  # your own method or figure may raise anything; the page names it
            problems.append(f"{entry.heading}: {type(error).__name__}: {_sentence(error)}")
        else:
            if isinstance(figure, Chart):
                result.charts[name] = figure
            elif isinstance(figure, Figure):
                result.figures[name] = figure if figure.heading else figure._replace(heading=entry.heading)
            else:
                kind = type(figure).__name__
                problems.append(
                    f"{name} must return an unbraid.report.Figure or Chart; it returned a {kind}."
                )
    return result._replace(
        missing=_missing(problems, has_figures=bool(entries) or len(model.shape) == 3),
        unscored=_unscored(model, dataset, entries),
    )


def page_metrics(model: Model, dataset: Dataset) -> tuple[str, ...]:
    """The metrics whose stored scores the figures and tables of a report show."""
    entries, _ = _chosen(model, dataset, ())
    return tuple(dict.fromkeys(name for names in _scored_parts(dataset, entries).values() for name in names))


def _scored_parts(dataset: Dataset, entries: Mapping[str, FigureEntry]) -> dict[str, tuple[str, ...]]:
    """The metrics that each part of the page shows, by its heading."""
    parts = {entry.heading: entry.scores for entry in entries.values() if entry.scores}
    has_nuisances = bool(dataset.nuisances or dataset.hidden_nuisances)
    return parts | ({"Linear probes per strand": (PROBES,)} if has_nuisances else {})


def _unscored(model: Model, dataset: Dataset, entries: Mapping[str, FigureEntry]) -> Unscored:
    lacking = {
        heading: [metric for metric in metrics if stored_score(model.run, metric) is None]
        for heading, metrics in _scored_parts(dataset, entries).items()
    }
    headings = tuple(heading for heading, metrics in lacking.items() if metrics)
    return Unscored(headings, tuple(dict.fromkeys(name for metrics in lacking.values() for name in metrics)))


def shows_images(run: Run) -> bool:
    return len(run.settings["data"]["shape"]) == 3


def named_entry(figure: Any) -> tuple[str, FigureEntry]:
    """The name and the entry of a figure.

    Args:
        figure: A name, an entry, or your own function, which has the first sentence of its documentation as heading.
    """
    if isinstance(figure, str):
        if not is_reference(figure):
            return figure, lookup("figure", figure, FIGURES, or_else=", or your own FILE.py:FUNCTION")
        figure = use(figure)
    if isinstance(figure, FigureEntry):
        return _plain_name(figure.draw), figure
    if not callable(figure):
        raise ValueError(f"A figure is a name, or a function of a model and a dataset; got {figure!r:.60}.")
    name = _plain_name(figure)
    sentence = (inspect.getdoc(figure) or "").partition("\n\n")[0].partition(". ")[0].rstrip(".")
    heading = " ".join(sentence.split())
    if not heading or len(heading) > MAX_HEADING:
        heading = name.replace("_", " ").capitalize()
    return name, FigureEntry(heading, cast(FigureFunction, figure))


def _chosen(
    model: Model, dataset: Dataset, requested: Sequence[str | FigureFunction | FigureEntry]
) -> tuple[dict[str, FigureEntry], list[str]]:
    """The figures that can be drawn, and a sentence for each figure that was asked for and cannot."""
    if requested:
        entries = dict(map(named_entry, requested))
        lacking = {name: entry.unmet(model, dataset) for name, entry in entries.items()}
        problems = [f"{name} needs {' and '.join(needs)}." for name, needs in lacking.items() if needs]
        return {name: entry for name, entry in entries.items() if not lacking[name]}, problems
    entries, problems = _choice_of_method(model)
    if entries is None:
        entries = {name: entry for name, entry in FIGURES.items() if entry.by_default(model, dataset)}
    return {name: entry for name, entry in entries.items() if not entry.unmet(model, dataset)}, problems


def _choice_of_method(model: Model) -> tuple[dict[str, FigureEntry] | None, list[str]]:
    """The figures that the method chooses, None without a choice, and a sentence for each that does not exist."""
    if not isinstance(model.method, HasFigures):
        return None, []
    entries: dict[str, FigureEntry] = {}
    problems: list[str] = []
    try:
        chosen: Iterable[str | FigureFunction | FigureEntry] = model.method.figures()
        for figure in chosen:
            try:
                name, entry = named_entry(figure)
                entries[name] = entry
            except (ValueError, OSError) as error:
                problems.append(_sentence(error))
    except Exception as error:  # your own method may raise anything; the page names it
        problems.append(f"{model.method.name()}.figures: {type(error).__name__}: {_sentence(error)}")
        return None, problems
    return entries, problems


def _plain_name(figure: object) -> str:
    """The name of a function, or of the class of another callable, as it appears in file names and in the page."""
    name = getattr(figure, "__name__", type(figure).__name__)
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)


def _missing(problems: list[str], *, has_figures: bool) -> str:
    if problems:
        return " ".join(["Some figures could not be drawn.", *dict.fromkeys(problems)])
    return "" if has_figures else ROWS


def _sentence(error: Exception) -> str:
    text = str(error).strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
