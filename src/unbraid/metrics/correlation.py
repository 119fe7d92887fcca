"""Correlation between the columns of two tables; a constant column has correlation 0 with every column."""

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

from unbraid.metrics.arrays import standardize

CORRELATIONS = ("pearson", "spearman")


def correlation(
    first: Float[np.ndarray, "n d"], second: Float[np.ndarray, "n k"], kind: str = "pearson"
) -> Float[np.ndarray, "d k"]:
    """Signed correlations of every pair of columns; `spearman` uses ranks, with averaged ties."""
    if kind == "spearman":
        first, second = rankdata(first, axis=0), rankdata(second, axis=0)
    (first,), (second,) = standardize(first), standardize(second)
    return np.clip(first.T @ second / len(first), -1.0, 1.0)
