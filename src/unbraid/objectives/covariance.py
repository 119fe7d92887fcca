"""Covariances of codes over the batch, and how far they are from the identity.

Kumar et al., 2018, Variational Inference of Disentangled Latent Concepts from Unlabeled Observations,
arXiv:1711.00848.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.distributed import gather
from unbraid.types import Codes, Gaussian, Scalar


def covariance(codes: Codes) -> Float[Tensor, "d d"]:
    """Cov[codes] over the joined batch of all processes; biased: divided by n, not by n - 1."""
    everyone = gather(codes)
    centred = everyone - everyone.mean(0)
    return (centred[:, :, None] * centred[:, None]).mean(
        0
    )  # not as a matrix product: autocast would round it


def aggregate_covariance(q: Gaussian) -> Float[Tensor, "d d"]:
    """Cov[z] of the aggregate posterior: Cov[mean] + E[variance], the latter on the diagonal."""
    return covariance(q.mean) + torch.diag(gather(q.variance).mean(0))


def off_diagonal_penalty(covariance: Float[Tensor, "d d"]) -> Scalar:
    """Sum of the squares of what is off the diagonal; each pair of codes counts twice."""
    return (covariance - torch.diag(covariance.diagonal())).square().sum()


def diagonal_penalty(covariance: Float[Tensor, "d d"]) -> Scalar:
    """Sum of the squares of what the variances lack to 1."""
    return (covariance.diagonal() - 1).square().sum()
