"""Active codes. Burda et al., 2016, Importance Weighted Autoencoders, arXiv:1509.00519."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from unbraid.metrics.arrays import as_codes


class ActiveCodes(NamedTuple):
    score: float  # how many codes are active
    active: Bool[np.ndarray, " d"]
    variance: Float[np.ndarray, " d"]
    threshold: float
    n: int


def active_codes(codes: np.ndarray, *, threshold: float = 0.01) -> ActiveCodes:
    r"""How many codes move with the observation.

    .. math:: \#\{j : Var_x(E_{q(z|x)}[z_j]) > 0.01\}

    `codes` are posterior means, whose prior has variance 1; for codes on another scale, set `threshold`.
    """
    codes = as_codes(codes)
    variance = codes.var(axis=0)
    active = variance > threshold
    return ActiveCodes(float(active.sum()), active, variance, threshold, len(codes))
