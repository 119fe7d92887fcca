"""KL divergence from the posterior to the standard normal prior, per dimension. Kingma and Welling, 2014,
Auto-Encoding Variational Bayes, arXiv:1312.6114, App. B."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from unbraid.metrics.arrays import as_codes


class KLPerDim(NamedTuple):
    score: float  # nats per sample, summed over dimensions
    per_dim: Float[np.ndarray, " d"]
    informative: Bool[np.ndarray, " d"]  # above `threshold`: the dimensions that UDR uses
    threshold: float
    n: int

    higher_is_better = None
    bounds = (0.0, None)


def kl_per_dim(mean: np.ndarray, logvar: np.ndarray, *, threshold: float = 0.01) -> KLPerDim:
    r"""KL divergence from posterior to prior per dimension, in nats, averaged over samples.

    .. math:: KL_j = E_x ½ (μ_j^2 + σ_j^2 - \log σ_j^2 - 1)
    """
    mean = as_codes(mean, name="mean")
    logvar = as_codes(logvar, name="logvar", samples=len(mean), columns=mean.shape[1])
    # e^v - v - 1 is inaccurate near v = 0 unless computed with expm1.
    per_dim = 0.5 * (mean**2 + np.expm1(logvar) - logvar).mean(axis=0)
    return KLPerDim(float(per_dim.sum()), per_dim, per_dim > threshold, threshold, len(mean))
