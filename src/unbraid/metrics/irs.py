"""Interventional robustness score (IRS). Suter et al., 2019, Robustly Disentangled Causal Mechanisms,
arXiv:1811.00007, Sec. 4; its estimate as in disentanglement_lib."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int

from unbraid.metrics.arrays import as_codes, as_factors
from unbraid.metrics.information import discretize, relabel

PARTS = 16  # into which long rows are cut to find their largest values


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
    centred = np.zeros((alive.size, len(codes) + 1), dtype=np.float32)
    np.subtract(columns[alive], mean[alive, None], out=centred[:, :-1], casting="same_kind")
    binned = discretize(factors.astype(np.float64), bins)
    robustness = np.zeros((d, k))
    for factor in range(k if alive.size else 0):
        typical = _typical_deviation(centred, relabel(binned[:, factor]), quantile)
        robustness[alive, factor] = 1 - typical / largest
    per_code = robustness.max(axis=1)
    parents = np.full(d, -1)
    parents[alive] = robustness[alive].argmax(axis=1)
    deviations = np.zeros(d)
    deviations[alive] = largest
    score = float(per_code @ deviations / deviations.sum()) if alive.size else 0.0
    return IRS(score, per_code, parents, robustness, deviations, len(codes), bins, quantile)


def _typical_deviation(
    columns: Float32[np.ndarray, "d _"], values: Int[np.ndarray, " n"], quantile: float
) -> Float[np.ndarray, " d"]:
    """Mean over the factor's values of the quantile of |code - its mean at that value|."""
    counts = np.bincount(values)
    # Short integers sort by counting; each value's samples end up side by side.
    order = np.argsort(values.astype(np.uint16) if len(counts) < 2**16 else values, kind="stable")
    longest = int(counts.max())
    if len(counts) * longest > 4 * len(values) + 1024:  # too uneven for one table: a table a value
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
    """The quantile of each code's deviation from its mean over the first `counts` samples of each row."""
    longest = table.shape[1]
    empty = np.arange(longest) >= counts[:, None]
    deviations = columns.take(
        table, axis=1, mode="wrap"
    )  # places left empty take the last, a column of zeros
    deviations -= deviations.sum(axis=2, keepdims=True) / counts[:, None].astype(np.float32)
    np.abs(deviations, out=deviations)
    np.copyto(deviations, -1, where=empty)
    places = quantile * (counts - 1)
    lows = places.astype(np.int64)
    below, above = _from_the_top(deviations, counts - lows)
    return below + (places - lows) * (above - below)


def _from_the_top(
    rows: Float32[np.ndarray, "d v longest"], ranks: Int[np.ndarray, " v"]
) -> tuple[Float[np.ndarray, "d v"], Float[np.ndarray, "d v"]]:
    """The value of the given rank from the top of each row, and the next one up where there is one.

    Each row is cut into parts and the maxima of the parts are ranked: as many values as are asked for reach
    the maximum of that rank, and hardly any others do, so that only few are left to sort.
    """
    d, v, longest = rows.shape
    rank, width = int(ranks.max()), longest // PARTS
    floor = np.full((d, v, 1), -np.inf, dtype=np.float32)
    if width >= 2 * rank:
        maxima = rows[:, :, : PARTS * width].reshape(d, v, PARTS, width).max(axis=2)
        floor = np.partition(maxima, width - rank, axis=2)[:, :, width - rank, None]
    kept = np.flatnonzero(rows >= floor)
    row, values = kept // longest, rows.reshape(-1)[kept].astype(np.float64)
    apart = row * (2 * np.abs(values).max() + 1)  # rows laid end to end on one line sort at once
    values = np.sort(values + apart) - apart
    ends = np.cumsum(np.bincount(row, minlength=d * v)).reshape(d, v)
    return values[ends - ranks], values[ends - np.maximum(ranks - 1, 1)]
