"""Figures that read the importances of DCI, and the joint distribution of correlated factors."""

import numpy as np

from unbraid.data import Dataset
from unbraid.methods import feature_strand_names
from unbraid.report.charts import Chart, chart_of
from unbraid.report.figures import Figure, activity, examples
from unbraid.report.heatmaps import importance_chart, joint_chart
from unbraid.report.intervention import annotate_rows, quantile_traversals
from unbraid.report.stored import stored_score
from unbraid.runs import Model


def joint(model: Model, dataset: Dataset) -> Chart:
    """The joint distribution of the two correlated factors in training."""
    first, second = correlated_factors(dataset)
    return chart_of(
        "Correlated factors",
        f"Relative frequency of each pair of values of {first} and {second} in training (maximum 1).",
        lambda dark: joint_chart(dataset, first, second, dark=dark),
    )


def importance(model: Model, dataset: Dataset) -> Chart:
    """The importance of each dimension or strand for each factor, as stored with the score `dci`."""
    by_factor, pair = stored_importances(model, dataset), correlated_factors(dataset)
    importances, names = np.stack(list(by_factor.values()), 1), list(by_factor)
    rows = [str(row) for row in _scored_rows(model)]
    unit = "dimension" if rows[0].isdecimal() else "strand"
    return chart_of(
        f"Importance of each {unit} for each factor",
        "Importances of DCI; the importances of each factor sum to 1."
        + (" Red: correlated factors." if pair else ""),
        lambda dark: importance_chart(importances, names, rows=rows, highlight=pair, dark=dark),
    )


def annotated_quantiles(model: Model, dataset: Dataset) -> Figure:
    """Traversals between quantiles; with a score `dci`, of the dimension that is most important for each factor."""
    importances = stored_importances(model, dataset)
    if not importances:
        return quantile_traversals(model, dataset)
    rows = [model.strands[name] for name in _scored_rows(model)]
    if any(len(row) > 1 for row in rows):  # the most active dimension stands for a strand
        amounts = activity(model, examples(dataset, 512, seed=0)).amounts
        rows = [(max(row, key=lambda dim: amounts[dim]),) for row in rows]
    notes = annotate_rows(importances, [dim for (dim,) in rows], correlated_factors(dataset))
    return quantile_traversals(model, dataset, **notes)


def correlated_factors(dataset: Dataset) -> tuple[str, ...]:
    """The two factors that were correlated in training, if any."""
    return tuple((dataset.origin or {}).get("options", {}).get("correlate", ()))


def stored_importances(model: Model, dataset: Dataset) -> dict[str, np.ndarray]:
    """Importance of each row of the latest DCI score for each factor; empty without a score."""
    score = stored_score(model.run, "dci", evidence=True)
    if score is None or dataset.factor_space is None:
        return {}
    sizes = zip(dataset.factor_space.names, dataset.factor_space.sizes, strict=True)
    names = [name for name, size in sizes if size > 1 and name != dataset.instance]
    table = np.asarray(score["evidence"]["importances"])
    fits = table.ndim == 2 and table.shape == (len(_scored_rows(model)), len(names))
    return dict(zip(names, table.T, strict=True)) if fits else {}


def _scored_rows(model: Model) -> list[str | int]:
    """Rows of DCI: the feature strands if the method has any, otherwise the dimensions of the default strand."""
    return list(feature_strand_names(model.method) or model.strands[model.strands.default])
