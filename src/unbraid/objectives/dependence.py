"""The statistical dependence between subembeddings over the batch, by correlations and by kernels.

Gretton et al., 2005, Measuring Statistical Dependence with Hilbert-Schmidt Norms (HSIC); normalized as in Cortes et
al., 2012, Algorithms for Learning Kernels Based on Centered Alignment.
"""

from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.distributed import all_gather
from unbraid.objectives.subembeddings import Subembeddings
from unbraid.types import Scalar

EPS = 1e-12


def dependence(z: Subembeddings, *, width: float = 0.7) -> Scalar:
    r"""Centered alignment of Gaussian kernels, in [0, 1] per pair, summed over pairs of subembeddings.

    .. math:: \sum_{k < k'} \frac{\langle \tilde K_k, \tilde K_{k'} \rangle}
              {\| \tilde K_k \| \| \tilde K_{k'} \|}, \quad
              K_k = \exp(-\| z_{i,k} - z_{j,k} \|^2 / 2 σ^2), \quad \tilde K = H K H

    For many independent rows, it is 0 exactly when the subembeddings are independent; with n rows it is about
    :math:`1/n` larger. Unlike the angle between two subembeddings of a row, it is invariant to rotations of either.

    Args:
        z: Subembeddings on one scale, such as unit length.
        width: Width σ of the kernels.
    """
    everyone = all_gather(z)
    kernels = [_centered(part, width) for part in everyone.unbind(1)]
    norms = [kernel.square().sum().add(EPS).sqrt() for kernel in kernels]
    aligned = [
        (kernels[k] * kernels[other]).sum() / (norms[k] * norms[other])
        for k, other in combinations(range(len(kernels)), 2)
    ]
    return torch.stack(aligned).sum() if aligned else z.new_zeros(())


def correlation(z: Subembeddings) -> Scalar:
    r"""Squared correlations between the dimensions of different subembeddings, summed over pairs of subembeddings and
    averaged over the dimensions of one.

    .. math:: \sum_{k < k'} \frac1e \sum_{i,j} \operatorname{corr}(z_{k,i}, z_{k',j})^2

    Between 0 and 1 per pair of subembeddings; e/n for n uncorrelated rows.
    """
    everyone = all_gather(z)
    centered = (everyone - everyone.mean(0)).flatten(1)
    with torch.autocast(z.device.type, enabled=False):
        covariance = centered.T @ centered / len(centered)
    std = covariance.diagonal().add(EPS).sqrt()
    squares = (covariance / (std[:, None] * std)).square()
    blocks = squares.unflatten(0, z.shape[1:]).unflatten(2, z.shape[1:]).sum((1, 3))  # per pair
    return blocks.triu(1).sum() / z.shape[2]


def _centered(part: Float[Tensor, "n e"], width: float) -> Float[Tensor, "n n"]:
    with torch.autocast(part.device.type, enabled=False):  # which would round the similarities
        squares = part.square().sum(1)
        kernel = ((part @ part.T - (squares[:, None] + squares) / 2) / width**2).exp()
    return kernel - kernel.mean(0) - kernel.mean(1, keepdim=True) + kernel.mean()
