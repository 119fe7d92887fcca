"""Which figures and charts a page has of a run."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unbraid.data.dataset import Dataset
from unbraid.model import Model
from unbraid.report.charts import file_bytes
from unbraid.report.contrast import CONTRAST_FIGURES, contrasts
from unbraid.report.figures import Figure, activity, examples, reconstructions, swaps, traversals
from unbraid.report.flows import flow_charts, variables
from unbraid.report.intervention import (
    importance_chart,
    joint_chart,
    neighbours,
    noted,
    quantile_traversals,
)
from unbraid.report.strand_charts import change_chart, map_chart
from unbraid.report.strand_figures import code_changes, strand_edits, strand_maps
from unbraid.report.subembeddings import view_pairs
from unbraid.runs import Run
from unbraid.types import ViewBatch

Figures = dict[str, tuple[str, Callable[..., Figure]]]
FIGURES: Figures = {
    "reconstructions": ("Reconstructions", reconstructions),
    "traversals": ("Traversals", traversals),
    "swaps": ("Swaps", swaps),
    "strands": ("What each strand holds", strand_edits),
    "quantiles": ("From quantile to quantile", quantile_traversals),
    "neighbours": ("Neighbours by strand", neighbours),
}
VIEW_FIGURES: Figures = {  # of methods that learn from views, without a decoder
    "view_pairs": ("View pairs", lambda model, dataset: view_pairs(dataset)),
}
FLOW_FIGURES: Figures = {  # of flows, whose codes are many
    "reconstructions": FIGURES["reconstructions"],
    "variables": ("What each code does", variables),
}
ALL_FIGURES = FIGURES | VIEW_FIGURES | CONTRAST_FIGURES | FLOW_FIGURES
ROWS = "There are no pictures: the observations are rows, not images."


class Chart(NamedTuple):
    """A chart of one run, on light and on dark ground."""

    heading: str
    caption: str
    light: bytes
    dark: bytes
    png: bytes


def pictures_of(run: Run, model: Model, dataset: Dataset) -> tuple[dict[str, Figure], dict[str, Chart], str]:
    """The figures and charts that can be made, and a sentence on those that cannot."""
    flow = "flow" in run.settings["method"]["arguments"]
    if not shows_images(run) and not flow:
        return {}, {}, ROWS
    figures: dict[str, Figure] = {}
    charts: dict[str, Chart] = {}
    missing: list[str] = []
    wanted = VIEW_FIGURES if model.method.batch is ViewBatch else FLOW_FIGURES if flow else FIGURES
    wanted = wanted | (CONTRAST_FIGURES if contrasts(model, dataset) else {})
    for name, (_, figure) in (wanted if shows_images(run) else {}).items():
        if name == "strands" and not {"predictive", "nuisance"} <= set(model.strands):
            continue
        if name == "quantiles" and hasattr(model.method, "posterior") and not _correlated(dataset):
            continue  # whose codes have a prior, so that fixed values will do
        if name == "neighbours" and not getattr(model.method, "blocks", ()):
            continue
        try:
            notes = _notes(run, model, dataset) if name == "quantiles" else {}
            figures[name] = figure(model, dataset, **notes)
        except ValueError as error:
            missing.append(str(error))
    if flow:
        charts = {name: chart_of(*parts) for name, parts in flow_charts(model, dataset).items()}
    elif len(model.strands) > 1 and dataset.space is not None:
        try:
            charts = _strand_charts(model, dataset)
        except ValueError as error:
            missing.append(str(error))
    charts |= _factor_charts(run, model, dataset)
    return (
        figures,
        charts,
        " ".join(["Not every picture could be made.", *dict.fromkeys(missing)] if missing else []),
    )


def shows_images(run: Run) -> bool:
    return len(run.settings["data"]["shape"]) == 3


def chart_of(heading: str, caption: str, draw: Callable[..., Any]) -> Chart:
    """A chart on both grounds, from a function that draws it on a `dark` one or not."""
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


def _notes(run: Run, model: Model, dataset: Dataset) -> dict[str, list]:
    """The codes that matter most and what for; of a strand of several codes the busiest stands for it."""
    importances = _importances(run, dataset)
    if not importances:
        return {}
    rows = [model.strands[name] for name in _scored(model)]
    if any(len(row) > 1 for row in rows):
        busy = activity(model, examples(dataset, 512, seed=0)).amounts
        rows = [(max(row, key=lambda code: busy[code]),) for row in rows]
    return noted(importances, [code for (code,) in rows], _correlated(dataset))


def _scored(model: Model) -> list[str | int]:
    """What DCI compares: the strands that stand for a feature each, or else the codes of the default strand."""
    return list(getattr(model.method, "blocks", ()) or model.strands[model.strands.default])


def _factor_charts(run: Run, model: Model, dataset: Dataset) -> dict[str, Chart]:
    """The joint distribution of factors that training showed correlated, and what DCI found each code to matter for."""
    pair = _correlated(dataset)
    charts = {}
    if pair:
        charts["joint"] = chart_of(
            "Correlated factors",
            f"How often training shows {pair[0]} and {pair[1]} together; 1 is the most frequent pair of values.",
            lambda dark: joint_chart(dataset, *pair, dark=dark),
        )
    if found := _importances(run, dataset):
        importances, names = np.stack(list(found.values()), 1), list(found)
        rows = [str(row) for row in _scored(model)]
        what = "code" if rows[0].isdecimal() else "strand"
        charts["importance"] = chart_of(
            f"What each {what} matters for",
            f"Importance of each {what} in predicting each factor, as DCI has it"
            + (", the correlated factors in red." if pair else "."),
            lambda dark: importance_chart(importances, names, codes=rows, highlight=pair, dark=dark),
        )
    return charts


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
