"""KL divergence from the posterior to the standard normal prior, code by code. Kingma and Welling, 2014,
Auto-Encoding Variational Bayes, arXiv:1312.6114, App. B."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from unbraid.metrics.arrays import as_codes


class KLPerCode(NamedTuple):
    score: float  # nats a sample, all codes together
    per_code: Float[np.ndarray, " d"]
    informative: Bool[np.ndarray, " d"]  # above `threshold`: the codes UDR keeps
    threshold: float
    n: int


def kl_per_code(mean: np.ndarray, logvar: np.ndarray, *, threshold: float = 0.01) -> KLPerCode:
    r"""How many nats each code spends, on average over the samples.

    .. math:: KL_j = E_x ½ (μ_j^2 + σ_j^2 - \log σ_j^2 - 1)
    """
    mean = as_codes(mean, name="mean")
    logvar = as_codes(logvar, name="logvar", samples=len(mean), columns=mean.shape[1])
    # e^v - v - 1 loses all its digits near v = 0 unless written with expm1.
    per_code = 0.5 * (mean**2 + np.expm1(logvar) - logvar).mean(axis=0)
    return KLPerCode(float(per_code.sum()), per_code, per_code > threshold, threshold, len(mean))
