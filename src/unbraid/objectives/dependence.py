"""How much the parts of a code depend on each other over the batch: by correlations, and by kernels.

Gretton et al., 2005, Measuring Statistical Dependence with Hilbert-Schmidt Norms (HSIC); normalised as in Cortes et
al., 2012, Algorithms for Learning Kernels Based on Centered Alignment.
"""

from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.distributed import gather
from unbraid.objectives.subembeddings import Parts
from unbraid.types import Scalar

TINY = 1e-12


def dependence(z: Parts, *, width: float = 0.7) -> Scalar:
    r"""Centred alignment of Gaussian kernels, a sum over pairs of parts; each lies between 0 and 1.

    .. math:: \sum_{k < k'} \frac{\langle \tilde K_k, \tilde K_{k'} \rangle}
              {\| \tilde K_k \| \| \tilde K_{k'} \|}, \quad
              K_k = \exp(-\| z_{i,k} - z_{j,k} \|^2 / 2 σ^2), \quad \tilde K = H K H

    With rows drawn independently and many of them, it is 0 exactly when the parts are independent; of n rows it
    is some :math:`1/n` above that. Unlike an angle between two parts of one row it does not see how the
    dimensions of one are turned against those of the other.

    Args:
        z: Parts whose distances one width suits, such as those of unit length.
        width: σ.
    """
    everyone = gather(z)
    kernels = [_centred(part, width) for part in everyone.unbind(1)]
    norms = [kernel.square().sum().add(TINY).sqrt() for kernel in kernels]
    aligned = [
        (kernels[k] * kernels[other]).sum() / (norms[k] * norms[other])
        for k, other in combinations(range(len(kernels)), 2)
    ]
    return torch.stack(aligned).sum() if aligned else z.new_zeros(())


def correlation(z: Parts) -> Scalar:
    r"""Squared correlations between the dimensions of different parts, a sum over pairs of parts and a mean over the
    dimensions of one.

    .. math:: \sum_{k < k'} \frac1e \sum_{i,j} \operatorname{corr}(z_{k,i}, z_{k',j})^2

    Between 0 and 1 for each pair of parts that has as many dimensions as it needs; of n rows without correlation it
    is e/n.
    """
    everyone = gather(z)
    centred = (everyone - everyone.mean(0)).flatten(1)
    with torch.autocast(z.device.type, enabled=False):
        covariance = centred.T @ centred / len(centred)
    spread = covariance.diagonal().add(TINY).sqrt()
    squares = (covariance / (spread[:, None] * spread)).square()
    blocks = squares.unflatten(0, z.shape[1:]).unflatten(2, z.shape[1:]).sum((1, 3))  # part by part
    return blocks.triu(1).sum() / z.shape[2]


def _centred(part: Float[Tensor, "n e"], width: float) -> Float[Tensor, "n n"]:
    with torch.autocast(part.device.type, enabled=False):  # which would round the similarities
        squares = part.square().sum(1)
        kernel = ((part @ part.T - (squares[:, None] + squares) / 2) / width**2).exp()
    return kernel - kernel.mean(0) - kernel.mean(1, keepdim=True) + kernel.mean()
