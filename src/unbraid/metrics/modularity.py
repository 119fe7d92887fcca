"""Modularity. Ridgeway and Mozer, 2018, Learning Deep Disentangled Embeddings with the F-Statistic Loss,
arXiv:1802.05312, Sec. 3."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes, as_factors
from unbraid.metrics.information import discretize, mutual_information


class Modularity(NamedTuple):
    score: float  # mean over dimensions, in [0, 1]
    per_dim: Float[np.ndarray, " d"]  # 0 for a dimension without information
    information: Float[np.ndarray, "d k"]  # I(z_j; v_k) in nats
    n: int
    bins: int
    binning: str

    higher_is_better = True
    bounds = (0.0, 1.0)


def modularity(
    codes: np.ndarray, factors: np.ndarray, *, bins: int = 20, binning: str = "equal_width"
) -> Modularity:
    r"""Degree to which each dimension has mutual information with one factor only.

    .. math:: 1/D \sum_j 1 - \sum_{k \ne k(j)} I(z_j; v_k)^2 / (I(z_j; v_{k(j)})^2 (K - 1))

    A dimension without information counts 0, as in disentanglement_lib, so inactive dimensions lower the score. A
    dimension of pure noise is scored by its sampling error.
    """
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    if factors.shape[1] < 2:
        raise ValueError(f"modularity needs at least two factors; got factors of shape {factors.shape}.")
    information = mutual_information(discretize(codes, bins, binning), factors)
    squared = information**2
    best = squared.max(axis=1)
    rest = squared.sum(axis=1) - best
    spill = np.divide(rest, best * (factors.shape[1] - 1), out=np.ones_like(best), where=best > 0)
    per_dim = 1 - spill
    return Modularity(float(per_dim.mean()), per_dim, information, len(codes), bins, binning)
