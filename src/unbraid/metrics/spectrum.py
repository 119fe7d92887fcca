"""The spectrum of a code, and how many of its dimensions are informative. Sorrenson et al., 2020, Disentanglement by
Nonlinear ICA with General Incompressible-Flow Networks, arXiv:2001.04872, Sec. 4; the knee after Satopää et al.,
2011, Finding a "Kneedle" in a Haystack."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_codes


class Spectrum(NamedTuple):
    score: float  # how many codes lie above the knee
    spreads: Float[np.ndarray, " d"]  # standard deviations, widest first
    order: Int[np.ndarray, " d"]  # the codes they belong to
    drop: float  # how many times wider the last informative code is than the next
    n: int


def spectrum(codes: np.ndarray) -> Spectrum:
    r"""The standard deviations of the codes, widest first, and where they stop falling.

    The curve (rank, log spread) has levelled off at the point that lies farthest below the straight line between its
    ends. Codes in the upper half of the fall to there, on the logarithmic scale, are informative; the knee is behind
    the last of them. Of a curve that has no knee, `drop` is near 1.
    """
    codes = as_codes(codes)
    spreads = codes.std(axis=0)
    order = np.argsort(-spreads, kind="stable")
    spreads = spreads[order]
    if len(spreads) < 3 or spreads[0] == 0:
        count = int((spreads > 0).sum())
        return Spectrum(float(count), spreads, order, 1.0, len(codes))
    heights = np.log(np.maximum(spreads, spreads[0] * np.finfo(np.float32).eps))
    line = np.linspace(heights[0], heights[-1], len(heights))
    level = heights[np.argmax(line - heights)]
    count = max(1, int((heights > (heights[0] + level) / 2).sum()))
    return Spectrum(
        float(count), spreads, order, float(np.exp(heights[count - 1] - heights[count])), len(codes)
    )
