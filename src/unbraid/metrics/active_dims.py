"""Active dimensions. Burda et al., 2016, Importance Weighted Autoencoders, arXiv:1509.00519."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from unbraid.metrics.arrays import as_codes


class ActiveDims(NamedTuple):
    score: float  # number of active dimensions
    active: Bool[np.ndarray, " d"]
    variance: Float[np.ndarray, " d"]
    threshold: float
    n: int

    higher_is_better = None
    bounds = (0.0, None)


def active_dims(codes: np.ndarray, *, threshold: float = 0.01) -> ActiveDims:
    r"""Number of dimensions whose variance exceeds a threshold.

    .. math:: \#\{j : Var_x(E_{q(z|x)}[z_j]) > 0.01\}

    `codes` are posterior means, whose prior has variance 1. For codes on another scale, set `threshold`.
    """
    codes = as_codes(codes)
    variance = codes.var(axis=0)
    active = variance > threshold
    return ActiveDims(float(active.sum()), active, variance, threshold, len(codes))
