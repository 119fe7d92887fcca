"""The sorted standard deviations of a code, and its number of informative dimensions. Sorrenson et al., 2020,
Disentanglement by Nonlinear ICA with General Incompressible-Flow Networks, arXiv:2001.04872, Sec. 4."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_codes


class Spectrum(NamedTuple):
    score: float  # number of dimensions before the knee
    stds: Float[np.ndarray, " d"]  # standard deviations, in descending order
    order: Int[np.ndarray, " d"]  # the dimensions in this order
    drop: float  # std of the last informative dimension / std of the next
    bend: float  # slope of the curve before the knee / slope after it
    n: int

    higher_is_better = None
    bounds = (0.0, None)


def spectrum(codes: np.ndarray) -> Spectrum:
    r"""Number of informative dimensions: those before the knee of the sorted standard deviations.

    The best score is the number of true factors. The curve is (rank, log std) of
    the half of the dimensions with the highest standard deviations, at least ten. Two straight lines are fitted to it,
    one to the first points and one to the others; the knee is the division with the best fit. If one step makes up more
    than half of the descent to the knee, the knee is moved to that step. Without a knee, `bend` is near 1.
    """
    codes = as_codes(codes)
    stds = codes.std(axis=0)
    order = np.argsort(-stds, kind="stable")
    stds = stds[order]
    if len(stds) < 3 or stds[0] == 0:
        count = int((stds > 0).sum())
        return Spectrum(float(count), stds, order, drop=1.0, bend=1.0, n=len(codes))
    heights = np.log(np.maximum(stds, stds[0] * np.finfo(np.float32).eps))
    wide = heights[: max(10, len(heights) // 2)]
    misfit = (
        _misfits(wide)[:-1] + _misfits(wide[::-1])[-2::-1]
    )  # of the first k points plus that of the others
    count = int(np.argmin(misfit)) + 1
    steps = -np.diff(wide[: count + 1])
    if steps.max() > steps.sum() / 2:
        count = int(np.argmax(steps)) + 1
    drop = float(np.exp(heights[count - 1] - heights[count]))
    behind = max(_fall(wide[count:]), 1e-6)
    return Spectrum(float(count), stds, order, drop, bend=_fall(wide[: count + 1]) / behind, n=len(codes))


def _misfits(heights: Float[np.ndarray, " d"]) -> Float[np.ndarray, " d"]:
    """The squared distances from the straight line that fits the first k heights best, for every k."""
    rank = np.arange(len(heights), dtype=float)
    k, y = rank + 1, heights - heights[0]
    x_sum, y_sum = rank.cumsum(), y.cumsum()
    xx, yy = (rank**2).cumsum() - x_sum**2 / k, (y**2).cumsum() - y_sum**2 / k
    xy = (rank * y).cumsum() - x_sum * y_sum / k
    return np.maximum(yy - np.divide(xy**2, xx, out=np.zeros_like(xx), where=xx > 0), 0)


def _fall(heights: Float[np.ndarray, " d"]) -> float:
    """Mean descent of a curve per step."""
    return float(heights[0] - heights[-1]) / max(1, len(heights) - 1)
