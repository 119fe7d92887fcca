"""Covariances of codes over the batch, and penalties on their difference from the identity.

Kumar et al., 2018, Variational Inference of Disentangled Latent Concepts from Unlabeled Observations,
arXiv:1711.00848.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.distributed import all_gather
from unbraid.types import Codes, Gaussian, Scalar


def covariance(codes: Codes) -> Float[Tensor, "d d"]:
    """Cov[codes] over the global batch; biased: divided by n, not by n - 1."""
    everyone = all_gather(codes)
    centered = everyone - everyone.mean(0)
    products = centered[:, :, None] * centered[:, None]  # not a matrix product, which autocast would round
    return products.mean(0)


def aggregate_covariance(q: Gaussian) -> Float[Tensor, "d d"]:
    """Cov[z] of the aggregate posterior: Cov[mean] + E[variance], the latter on the diagonal."""
    return covariance(q.mean) + torch.diag(all_gather(q.variance).mean(0))


def off_diagonal_penalty(covariance: Float[Tensor, "d d"]) -> Scalar:
    """Sum of the squared off-diagonal elements; each pair of dimensions counts twice."""
    return (covariance - torch.diag(covariance.diagonal())).square().sum()


def diagonal_penalty(covariance: Float[Tensor, "d d"]) -> Scalar:
    """Sum of the squared differences of the variances from 1."""
    return (covariance.diagonal() - 1).square().sum()
