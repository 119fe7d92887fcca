"""The spectrum of a code, and how many of its dimensions are informative. Sorrenson et al., 2020, Disentanglement by
Nonlinear ICA with General Incompressible-Flow Networks, arXiv:2001.04872, Sec. 4."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_codes


class Spectrum(NamedTuple):
    score: float  # how many codes lie before the knee
    spreads: Float[np.ndarray, " d"]  # standard deviations, widest first
    order: Int[np.ndarray, " d"]  # the codes they belong to
    drop: float  # how many times wider the last informative code is than the next
    bend: float  # how many times steeper the curve falls before the knee than behind it
    n: int


def spectrum(codes: np.ndarray) -> Spectrum:
    r"""The standard deviations of the codes, widest first, and the knee where they stop falling steeply.

    Two straight lines are fitted to the curve (rank, log spread) of the wider half of the codes, ten at least, one
    to its first points and one to the others. The knee is where they part when they fit best, or, where one step
    makes up more than half of the fall to there, at that step. Of a curve that has no knee, `bend` is near 1.
    """
    codes = as_codes(codes)
    spreads = codes.std(axis=0)
    order = np.argsort(-spreads, kind="stable")
    spreads = spreads[order]
    if len(spreads) < 3 or spreads[0] == 0:
        count = int((spreads > 0).sum())
        return Spectrum(float(count), spreads, order, drop=1.0, bend=1.0, n=len(codes))
    heights = np.log(np.maximum(spreads, spreads[0] * np.finfo(np.float32).eps))
    wide = heights[: max(10, len(heights) // 2)]
    misfit = _misfits(wide)[:-1] + _misfits(wide[::-1])[-2::-1]  # of the first k points, and of the rest
    count = int(np.argmin(misfit)) + 1
    steps = -np.diff(wide[: count + 1])
    if steps.max() > steps.sum() / 2:
        count = int(np.argmax(steps)) + 1
    drop = float(np.exp(heights[count - 1] - heights[count]))
    behind = max(_fall(wide[count:]), 1e-6)
    return Spectrum(float(count), spreads, order, drop, bend=_fall(wide[: count + 1]) / behind, n=len(codes))


def _misfits(heights: Float[np.ndarray, " d"]) -> Float[np.ndarray, " d"]:
    """The squared distances from the straight line that fits the first k heights best, for every k."""
    rank = np.arange(len(heights), dtype=float)
    k, y = rank + 1, heights - heights[0]
    x_sum, y_sum = rank.cumsum(), y.cumsum()
    xx, yy = (rank**2).cumsum() - x_sum**2 / k, (y**2).cumsum() - y_sum**2 / k
    xy = (rank * y).cumsum() - x_sum * y_sum / k
    return np.maximum(yy - np.divide(xy**2, xx, out=np.zeros_like(xx), where=xx > 0), 0)


def _fall(heights: Float[np.ndarray, " d"]) -> float:
    """How far a curve falls at each step, on average."""
    return float(heights[0] - heights[-1]) / max(1, len(heights) - 1)
