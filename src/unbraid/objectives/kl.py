"""Kullback-Leibler divergences between factorial Gaussians, in closed form."""

import math

from jaxtyping import Float
from torch import Tensor

from unbraid.types import Codes, Gaussian, Scalar


def kl(q: Gaussian, p: Gaussian) -> Codes:
    r"""KL(q || p) of each code of each row.

    .. math:: ½ (σ_q^2 / σ_p^2 + (μ_q - μ_p)^2 / σ_p^2 - 1 - \log(σ_q^2 / σ_p^2))
    """
    ratio = q.logvar - p.logvar
    return 0.5 * (ratio.exp() + (q.mean - p.mean).square() * (-p.logvar).exp() - 1 - ratio)


def kl_per_code(q: Gaussian) -> Float[Tensor, " d"]:
    """KL(q || N(0, 1)) of each code, averaged over the batch: how much each code carries at most."""
    return 0.5 * (q.mean.square() + q.logvar.exp() - 1 - q.logvar).mean(0)


def kl_to_standard_normal(q: Gaussian) -> Scalar:
    """KL(q || N(0, I)), summed over codes, averaged over the batch."""
    return kl_per_code(q).sum()


def code_nll(q: Gaussian, z: Codes) -> Scalar:
    """-log q(z|x) of the given codes, summed over them, averaged over the batch."""
    squares = (z - q.mean).square() * (-q.logvar).exp()
    return 0.5 * (squares + q.logvar + math.log(2 * math.pi)).sum(1).mean()
