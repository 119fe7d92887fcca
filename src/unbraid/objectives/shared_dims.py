"""The dimensions that two images share, inferred from their posteriors, and the posterior of shared dimensions.

Locatello et al., 2020, Weakly-Supervised Disentanglement Without Compromises, arXiv:2002.02886, Sec. 4.
"""

import math

import torch
from jaxtyping import Bool
from torch import Tensor

from unbraid.objectives.elbo import kl
from unbraid.types import Gaussian


def shared_mask(q1: Gaussian, q2: Gaussian) -> Bool[Tensor, "b d"]:
    r"""True where δ_i = KL(q(z_i|x1) || q(z_i|x2)) lies below the middle of its range over the dimensions.

    .. math:: δ_i < ½ (\max_j δ_j + \min_j δ_j)

    When all δ are equal, no dimension is shared. The mask has no gradient.
    """
    with torch.no_grad():
        delta = kl(q1, q2)
        return delta < 0.5 * (delta.amax(1, keepdim=True) + delta.amin(1, keepdim=True))


def average_posterior(q1: Gaussian, q2: Gaussian) -> Gaussian:
    """Means and variances averaged, as in the group VAE (Hosoya, 2019)."""
    logvar = torch.logaddexp(q1.logvar, q2.logvar) - math.log(2)
    return Gaussian(0.5 * (q1.mean + q2.mean), logvar)


def product_posterior(q1: Gaussian, q2: Gaussian) -> Gaussian:
    r"""The normalized geometric mean, after the product of posteriors of the ML-VAE (Bouchacourt et al., 2018).

    .. math:: σ^2 = 2 σ_1^2 σ_2^2 / (σ_1^2 + σ_2^2), \quad μ = ½ σ^2 (μ_1 / σ_1^2 + μ_2 / σ_2^2)

    The product itself has half this variance; with the factor 2, the result for two equal posteriors is that posterior.
    """
    logvar = math.log(2) - torch.logaddexp(-q1.logvar, -q2.logvar)
    first = (q2.logvar - q1.logvar).sigmoid()  # precision of the first over the sum of precisions
    return Gaussian(first * q1.mean + (1 - first) * q2.mean, logvar)


def replace_shared(
    shared: Bool[Tensor, "b d"], q1: Gaussian, q2: Gaussian, common: Gaussian
) -> tuple[Gaussian, Gaussian]:
    """Both posteriors with the shared dimensions replaced by those of `common`."""
    return (
        Gaussian(torch.where(shared, common.mean, q1.mean), torch.where(shared, common.logvar, q1.logvar)),
        Gaussian(torch.where(shared, common.mean, q2.mean), torch.where(shared, common.logvar, q2.logvar)),
    )
