"""Interventional robustness score (IRS). Suter et al., 2019, Robustly Disentangled Causal Mechanisms,
arXiv:1811.00007, Sec. 4; the estimator is that of disentanglement_lib."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int

from unbraid.metrics.arrays import as_codes, as_factors
from unbraid.metrics.information import discretize, relabel

BLOCKS = 16  # number of blocks per row in the search for the largest values


class IRS(NamedTuple):
    score: float  # mean over dimensions of the maximum robustness, weighted by the largest deviation
    per_dim: Float[np.ndarray, " d"]  # 0 for a constant dimension, which has no weight
    parents: Int[
        np.ndarray, " d"
    ]  # the factor that explains each dimension best; -1 for a constant dimension
    robustness: Float[np.ndarray, "d k"]
    deviations: Float[np.ndarray, " d"]  # the weights: largest distance of each dimension from its mean
    n: int
    bins: int
    quantile: float

    higher_is_better = True
    bounds = (-1.0, 1.0)


def irs(codes: np.ndarray, factors: np.ndarray, *, bins: int = 20, quantile: float = 0.99) -> IRS:
    r"""Robustness of each dimension while the factor that explains it best is fixed.

    .. math:: R_{jk} = 1 - E_v[Q_q |z_j - E[z_j|v_k = v]|] / \max |z_j - E[z_j]|,   IRS = \sum_j w_j \max_k R_{jk}

    The mean over v gives every value of the factor the same weight; w_j is proportional to the divisor. `quantile` is
    q: 0.99 in disentanglement_lib, 1 (the maximum) in the paper. Factors with more than `bins` values are divided into
    that many bins of equal width, as in disentanglement_lib, which uses 10,000 samples. Smaller samples give higher
    scores, because the maximum over few samples is smaller. Constant dimensions are left out; if all are constant, the
    score is 0.
    """
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    if not 0 <= quantile <= 1:
        raise ValueError(f"quantile must be between 0 and 1; got {quantile}.")
    d, k = codes.shape[1], factors.shape[1]
    columns = np.ascontiguousarray(codes.T)
    low, high, mean = columns.min(axis=1), columns.max(axis=1), columns.mean(axis=1)
    alive = np.flatnonzero(high > low)
    largest = np.maximum(high - mean, mean - low)[alive]
    # Centered values have seven correct digits in single precision, in which quantiles are much faster.
    centered = np.zeros((alive.size, len(codes) + 1), dtype=np.float32)
    np.subtract(columns[alive], mean[alive, None], out=centered[:, :-1], casting="same_kind")
    binned = discretize(factors.astype(np.float64), bins)
    robustness = np.zeros((d, k))
    for factor in range(k if alive.size else 0):
        typical = _typical_deviation(centered, relabel(binned[:, factor]), quantile)
        robustness[alive, factor] = 1 - typical / largest
    per_dim = robustness.max(axis=1)
    parents = np.full(d, -1)
    parents[alive] = robustness[alive].argmax(axis=1)
    deviations = np.zeros(d)
    deviations[alive] = largest
    score = float(per_dim @ deviations / deviations.sum()) if alive.size else 0.0
    return IRS(score, per_dim, parents, robustness, deviations, len(codes), bins, quantile)


def _typical_deviation(
    columns: Float32[np.ndarray, "d _"], values: Int[np.ndarray, " n"], quantile: float
) -> Float[np.ndarray, " d"]:
    """Mean over the values of the factor of the quantile of |dimension - its mean at that value|."""
    counts = np.bincount(values)
    # Short integers are sorted by counting; samples with the same value become consecutive.
    order = np.argsort(values.astype(np.uint16) if len(counts) < 2**16 else values, kind="stable")
    longest = int(counts.max())
    if (
        len(counts) * longest > 4 * len(values) + 1024
    ):  # counts too unequal for one table: one table per value
        groups = np.split(order, np.cumsum(counts)[:-1])
        tables = [(group[None], counts[[value]]) for value, group in enumerate(groups)]
    else:
        table = np.full((len(counts), longest), -1)
        table[np.arange(longest) < counts[:, None]] = order
        tables = [(table, counts)]
    return np.concatenate([_quantiles(columns, *table, quantile) for table in tables], axis=1).mean(axis=1)


def _quantiles(
    columns: Float32[np.ndarray, "d _"],
    table: Int[np.ndarray, "v longest"],
    counts: Int[np.ndarray, " v"],
    quantile: float,
) -> Float[np.ndarray, "d v"]:
    """Quantile of the deviation of each dimension from its mean, over the first `counts` samples of each row."""
    longest = table.shape[1]
    empty = np.arange(longest) >= counts[:, None]
    deviations = columns.take(
        table, axis=1, mode="wrap"
    )  # empty positions have index -1, the last column, which is zero
    deviations -= deviations.sum(axis=2, keepdims=True) / counts[:, None].astype(np.float32)
    np.abs(deviations, out=deviations)
    np.copyto(deviations, -1, where=empty)
    positions = quantile * (counts - 1)
    lows = positions.astype(np.int64)
    below, above = _from_the_top(deviations, counts - lows)
    return below + (positions - lows) * (above - below)


def _from_the_top(
    rows: Float32[np.ndarray, "d v longest"], ranks: Int[np.ndarray, " v"]
) -> tuple[Float[np.ndarray, "d v"], Float[np.ndarray, "d v"]]:
    """The value with the given rank from the top of each row, and the next larger value if there is one.

    Each row is divided into blocks, and the block maxima are ranked. At least as many values as the rank reach the
    block maximum of that rank, and few others do, so few values need sorting.
    """
    d, v, longest = rows.shape
    rank, width = int(ranks.max()), longest // BLOCKS
    floor = np.full((d, v, 1), -np.inf, dtype=np.float32)
    if width >= 2 * rank:
        maxima = rows[:, :, : BLOCKS * width].reshape(d, v, BLOCKS, width).max(axis=2)
        floor = np.partition(maxima, width - rank, axis=2)[:, :, width - rank, None]
    kept = np.flatnonzero(rows >= floor)
    row, values = kept // longest, rows.reshape(-1)[kept].astype(np.float64)
    apart = row * (
        2 * np.abs(values).max() + 1
    )  # disjoint value ranges per row, so that one sort orders all rows
    values = np.sort(values + apart) - apart
    ends = np.cumsum(np.bincount(row, minlength=d * v)).reshape(d, v)
    return values[ends - ranks], values[ends - np.maximum(ranks - 1, 1)]
