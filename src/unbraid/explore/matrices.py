"""Importance or mutual information of each dimension and factor, from the scores of a run or from its examples."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.explore.examples import Examples
from unbraid.metrics import discretize, entropy, mutual_information
from unbraid.report import evidence_table
from unbraid.runs import Run
from unbraid.strands import Strands

Table = Float[np.ndarray, "r k"]
MAX_ROWS = 64  # maximum number of rows of a matrix
BINS = 10  # per dimension, for the estimate from examples
MIN_PER_VALUE = 5  # examples per value of a factor, for the estimate from examples


class Matrix(NamedTuple):
    """A fraction from 0 to 1 for each factor and row (dimension or strand), with texts for the page."""

    heading: str
    description: str
    unit: str  # follows the percentage: “of the importance for”, “of the entropy of”
    rows: tuple[tuple[str, tuple[int, ...]], ...]  # name and dimensions of each
    factors: tuple[str, ...]
    values: Float[np.ndarray, "r k"]


def matrix_of(
    run: Run, strands: Strands, examples: Examples, feature_strands: Sequence[str], order: Sequence[int]
) -> Matrix | None:
    """Importances of DCI, otherwise mutual information of MIG, otherwise mutual information over the examples.

    Args:
        run: Source of the scores.
        strands: Strands of the code.
        examples: Observations for the estimate without scores.
        feature_strands: Strands that a score may have used as rows.
        order: Dimensions for the estimate from examples, most active first.
    """
    scores = {score["metric"]: score for score in run.scores() if score.get("evidence") and "on" not in score}
    factors = _factors(run)
    for metric, name, build_matrix in (
        ("dci", "importances", _importance_matrix),
        ("mig", "information", _information_matrix),
    ):
        for strand in (strands.default, *strands):
            score = scores.get(metric if strand == strands.default else f"{strand}:{metric}")
            if score is None:
                continue
            table = evidence_table(score, name, 2)
            rows = _rows(strands, strand, feature_strands, len(table))
            if rows and table.shape[1] == len(factors) and len(rows) <= MAX_ROWS:
                return build_matrix(table, rows, factors)
    return _estimated_matrix(order, examples)


def _factors(run: Run) -> dict[str, int]:
    """Name and number of values of each factor that scores use."""
    data = run.settings["data"]
    return {name: size for name, size in data["factors"].items() if size > 1 and name != data.get("instance")}


def _rows(
    strands: Strands, strand: str, feature_strands: Sequence[str], count: int
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The rows of a score's evidence, by their number: the dimensions of the strand, or the feature strands."""
    dims = strands[strand]
    if count == len(dims):
        return tuple((f"dimension {dim}", (dim,)) for dim in dims)
    if count == len(feature_strands):
        return tuple((name, strands[name]) for name in feature_strands)
    return ()


def _importance_matrix(table: Table, rows: Any, factors: Mapping[str, int]) -> Matrix:
    shares = table / np.maximum(table.sum(0, keepdims=True), 1e-12)
    return Matrix(
        "Importance",
        "Importances of DCI: how much each row contributes to predicting each factor. Each column sums to 1.",
        "of the importance for",
        rows,
        tuple(factors),
        shares,
    )


def _information_matrix(table: Table, rows: Any, factors: Mapping[str, int]) -> Matrix:
    max_information = np.log(list(factors.values()))
    return _mutual_information_matrix(rows, tuple(factors), table / max_information, "from the score mig")


def _estimated_matrix(order: Sequence[int], examples: Examples) -> Matrix | None:
    """Mutual information over the examples, for factors with enough examples per value."""
    dims = order[:MAX_ROWS]
    factors = [
        factor
        for factor in examples.factors
        if len(factor.values) * MIN_PER_VALUE <= len(factor.value_index)
        and (factor.value_index >= 0).sum() >= MIN_PER_VALUE * len(factor.values)
    ]
    if not factors or len(dims) < 2:
        return None
    columns = []
    for factor in factors:
        known = factor.value_index >= 0
        binned = discretize(examples.codes.numpy()[known][:, list(dims)], bins=BINS)
        values = factor.value_index[known][:, None]
        used_bins = np.array([len(np.unique(column)) for column in binned.T])
        bias = (used_bins - 1) * (len(np.unique(values)) - 1) / (2 * len(values))  # of the plug-in estimator
        factor_entropy = max(float(entropy(values)[0]), 1e-12)
        columns.append((mutual_information(binned, values)[:, 0] - bias) / factor_entropy)
    rows = tuple((f"dimension {dim}", (dim,)) for dim in dims)
    names = tuple(factor.name for factor in factors)
    source = f"estimated from {len(examples.codes)} observations"
    return _mutual_information_matrix(rows, names, np.stack(columns, 1), source)


def _mutual_information_matrix(rows: Any, factors: tuple[str, ...], table: np.ndarray, source: str) -> Matrix:
    description = f"Mutual information of each row and factor divided by the entropy of the factor, {source}."
    return Matrix("Mutual information", description, "of the entropy of", rows, factors, table.clip(0, 1))
