"""Interventional robustness score (IRS). Suter et al., 2019, Robustly Disentangled Causal Mechanisms,
arXiv:1811.00007, Sec. 4; its estimate as in disentanglement_lib."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int

from unbraid.metrics.arrays import as_codes, as_factors
from unbraid.metrics.information import discretize, relabel


class IRS(NamedTuple):
    score: float  # mean over codes of their best robustness, weighted by their largest deviation
    per_code: Float[np.ndarray, " d"]  # 0 for a constant code, which has no weight
    parents: Int[np.ndarray, " d"]  # the factor that explains each code best; -1 for a constant code
    robustness: Float[np.ndarray, "d k"]
    deviations: Float[np.ndarray, " d"]  # the weights: largest distance of each code from its mean
    n: int
    bins: int
    quantile: float


def irs(codes: np.ndarray, factors: np.ndarray, *, bins: int = 20, quantile: float = 0.99) -> IRS:
    r"""How little each code moves, at worst, while the factor that explains it best stays as it is.

    .. math:: R_{jk} = 1 - E_v[Q_q |z_j - E[z_j|v_k = v]|] / \max |z_j - E[z_j]|,   IRS = \sum_j w_j \max_k R_{jk}

    The mean over v is over the values of the factor, each counted once; w_j is proportional to the
    divisor. `quantile` is q: 0.99 in disentanglement_lib, 1 (the largest) in the paper. Factors of more
    than `bins` values are cut into that many bins of equal width, as disentanglement_lib does. There n is
    10,000; a small sample flatters, because a worst case over few samples is mild. Constant codes are
    left out; if all are constant the score is 0.
    """
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    if not 0 <= quantile <= 1:
        raise ValueError(f"quantile must lie between 0 and 1; got {quantile}.")
    d, k = codes.shape[1], factors.shape[1]
    columns = np.ascontiguousarray(codes.T)
    low, high, mean = columns.min(axis=1), columns.max(axis=1), columns.mean(axis=1)
    alive = np.flatnonzero(high > low)
    largest = np.maximum(high - mean, mean - low)[alive]
    # Once centred, single precision gives seven digits of the quantiles and finds them much faster.
    columns = (columns - mean[:, None]).astype(np.float32)[alive]
    binned = discretize(factors.astype(np.float64), bins)
    robustness = np.zeros((d, k))
    for factor in range(k):
        typical = _typical_deviation(columns, relabel(binned[:, factor]), quantile)
        robustness[alive, factor] = 1 - typical / largest
    per_code = robustness.max(axis=1)
    parents = np.full(d, -1)
    parents[alive] = robustness[alive].argmax(axis=1)
    deviations = np.zeros(d)
    deviations[alive] = largest
    score = float(per_code @ deviations / deviations.sum()) if alive.size else 0.0
    return IRS(score, per_code, parents, robustness, deviations, len(codes), bins, quantile)


def _typical_deviation(
    columns: Float32[np.ndarray, "d n"], values: Int[np.ndarray, " n"], quantile: float
) -> Float[np.ndarray, " d"]:
    """Mean over the factor's values of the quantile of |code - its mean at that value|."""
    counts = np.bincount(values)
    starts = np.cumsum(counts) - counts
    # Short integers sort by counting; each value's samples end up side by side.
    order = np.argsort(values.astype(np.uint16) if len(counts) < 2**16 else values, kind="stable")
    grouped = columns.take(order, axis=1)
    means = (np.add.reduceat(grouped, starts, axis=1, dtype=np.float64) / counts).astype(np.float32)
    places = quantile * (counts - 1)
    lows = places.astype(np.int64)
    below, above = np.empty((2, len(counts), len(columns)))
    for value, (start, count, low) in enumerate(
        zip(starts.tolist(), counts.tolist(), lows.tolist(), strict=True)
    ):
        spread = grouped[:, start : start + count]
        spread -= means[:, value : value + 1]
        np.abs(spread, out=spread)
        spread.partition(low, axis=1)
        below[value] = spread[:, low]
        above[value] = spread[:, min(low + 1, count - 1) :].min(axis=1)
    return (below + (places - lows)[:, None] * (above - below)).mean(axis=0)
