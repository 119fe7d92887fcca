"""Which figures and charts a report shows for a run."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unbraid.data import Dataset
from unbraid.methods import HasPosterior, feature_strand_names
from unbraid.report.charts import file_bytes
from unbraid.report.contrast import CONTRAST_FIGURES, has_contrast
from unbraid.report.figures import Figure, activity, examples, reconstructions, swaps, traversals
from unbraid.report.flow_charts import flow_charts
from unbraid.report.flows import variables
from unbraid.report.heatmaps import importance_chart, joint_chart
from unbraid.report.intervention import annotate_rows, neighbors, quantile_traversals
from unbraid.report.strand_charts import change_chart, map_chart
from unbraid.report.strand_figures import dim_changes, strand_edits, strand_maps
from unbraid.report.subembeddings import view_pairs
from unbraid.runs import Model, Run
from unbraid.types import ViewBatch

Figures = dict[str, tuple[str, Callable[..., Figure]]]
FIGURES: Figures = {
    "reconstructions": ("Reconstructions", reconstructions),
    "traversals": ("Traversals", traversals),
    "swaps": ("Swaps", swaps),
    "strands": ("Strands exchanged and replaced by noise", strand_edits),
    "quantiles": ("Traversals between quantiles", quantile_traversals),
    "neighbors": ("Nearest neighbors by strand", neighbors),
}
VIEW_FIGURES: Figures = {  # for methods that learn from views and have no decoder
    "view_pairs": ("View pairs", lambda model, dataset: view_pairs(dataset)),
}
FLOW_FIGURES: Figures = {  # for flows, which have many dimensions
    "reconstructions": FIGURES["reconstructions"],
    "variables": ("Traversals of class means", variables),
}
ALL_FIGURES = FIGURES | VIEW_FIGURES | CONTRAST_FIGURES | FLOW_FIGURES
ROWS = "No figures: the observations are rows, not images."


class Chart(NamedTuple):
    """A chart of one run, for light and for dark backgrounds."""

    heading: str
    caption: str
    light: bytes
    dark: bytes
    png: bytes


def make_figures(run: Run, model: Model, dataset: Dataset) -> tuple[dict[str, Figure], dict[str, Chart], str]:
    """All figures and charts that the run supports, and a sentence on those that failed."""
    flow = "flow" in run.settings["method"]["arguments"]
    if not shows_images(run) and not flow:
        return {}, {}, ROWS
    figures: dict[str, Figure] = {}
    charts: dict[str, Chart] = {}
    missing: list[str] = []
    available = VIEW_FIGURES if model.method.batch_type is ViewBatch else FLOW_FIGURES if flow else FIGURES
    available = available | (CONTRAST_FIGURES if has_contrast(model, dataset) else {})
    for name, (_, figure) in (available if shows_images(run) else {}).items():
        if name == "strands" and not {"predictive", "nuisance"} <= set(model.strands):
            continue
        if name == "quantiles" and isinstance(model.method, HasPosterior) and not _correlated(dataset):
            continue  # codes with a prior have traversals over fixed values instead
        if name == "neighbors" and not feature_strand_names(model.method):
            continue
        try:
            notes = _notes(run, model, dataset) if name == "quantiles" else {}
            figures[name] = figure(model, dataset, **notes)
        except ValueError as error:
            missing.append(str(error))
    if flow:
        charts = {name: chart_of(*chart) for name, chart in flow_charts(model, dataset).items()}
    elif len(model.strands) > 1 and dataset.factor_space is not None:
        try:
            charts = _strand_charts(model, dataset)
        except ValueError as error:
            missing.append(str(error))
    charts |= _factor_charts(run, model, dataset)
    return (
        figures,
        charts,
        " ".join(["Some figures could not be drawn.", *dict.fromkeys(missing)] if missing else []),
    )


def shows_images(run: Run) -> bool:
    return len(run.settings["data"]["shape"]) == 3


def chart_of(heading: str, caption: str, draw: Callable[..., Any]) -> Chart:
    """A chart for both backgrounds, from a function with the argument `dark`."""
    light, dark = (file_bytes(draw(dark=dark), "svg") for dark in (False, True))
    return Chart(heading, caption, light, dark, file_bytes(draw(dark=False), "png"))


def _correlated(dataset: Dataset) -> tuple[str, ...]:
    """The two factors that were correlated in training, if any."""
    return tuple((dataset.origin or {}).get("options", {}).get("correlate", ()))


def _importances(run: Run, dataset: Dataset) -> dict[str, np.ndarray]:
    """Importance of each row of the latest DCI score for each factor; empty without a score."""
    found = [score for score in run.scores() if score["metric"] == "dci" and "evidence" in score]
    if not found or dataset.factor_space is None:
        return {}
    sizes = zip(dataset.factor_space.names, dataset.factor_space.sizes, strict=True)
    names = [name for name, size in sizes if size > 1 and name != dataset.instance]
    table = np.asarray(found[-1]["evidence"]["importances"])
    return dict(zip(names, table.T, strict=True)) if table.shape[1] == len(names) else {}


def _notes(run: Run, model: Model, dataset: Dataset) -> dict[str, list]:
    """Arguments for `quantile_traversals`; the most active dimension stands for a strand."""
    importances = _importances(run, dataset)
    if not importances:
        return {}
    rows = [model.strands[name] for name in _scored(model)]
    if any(len(row) > 1 for row in rows):
        amounts = activity(model, examples(dataset, 512, seed=0)).amounts
        rows = [(max(row, key=lambda dim: amounts[dim]),) for row in rows]
    return annotate_rows(importances, [dim for (dim,) in rows], _correlated(dataset))


def _scored(model: Model) -> list[str | int]:
    """Rows of DCI: the feature strands if the method has any, otherwise the dimensions of the default strand."""
    return list(feature_strand_names(model.method) or model.strands[model.strands.default])


def _factor_charts(run: Run, model: Model, dataset: Dataset) -> dict[str, Chart]:
    """The joint distribution of the correlated factors, and the importances of DCI."""
    pair = _correlated(dataset)
    charts = {}
    if pair:
        charts["joint"] = chart_of(
            "Correlated factors",
            f"Relative frequency of each pair of values of {pair[0]} and {pair[1]} in training (maximum 1).",
            lambda dark: joint_chart(dataset, *pair, dark=dark),
        )
    if found := _importances(run, dataset):
        importances, names = np.stack(list(found.values()), 1), list(found)
        rows = [str(row) for row in _scored(model)]
        unit = "dimension" if rows[0].isdecimal() else "strand"
        charts["importance"] = chart_of(
            f"Importance of each {unit} for each factor",
            "Importances of DCI; the importances of each factor sum to 1."
            + (" Red: correlated factors." if pair else ""),
            lambda dark: importance_chart(importances, names, rows=rows, highlight=pair, dark=dark),
        )
    return charts


def _strand_charts(model: Model, dataset: Dataset) -> dict[str, Chart]:
    """Change of each dimension when one factor changes, and a t-SNE map per strand."""
    changes, maps = dim_changes(model, dataset), strand_maps(model, dataset)
    return {
        "changes": chart_of(
            "Change per dimension when one factor changes",
            "Mean change of each dimension when one factor changes; 1 is the mean difference of two random images.",
            lambda dark: change_chart(changes, model.strands, dark=dark),
        ),
        "maps": chart_of(
            "t-SNE per strand",
            f"t-SNE of each strand, colored by {maps.factor}.",
            lambda dark: map_chart(maps, dark=dark),
        ),
    }
