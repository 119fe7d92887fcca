"""Regularizers on the information that subembeddings share. Burns et al., 2021, Unsupervised Disentanglement without
Autoencoding, ICML workshop, Eqs. 4 to 8.

Subembeddings are one tensor (rows, subembeddings, dimensions). All but those of the Hessian have unit length.
"""

from itertools import permutations
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from unbraid.distributed import all_gather, rank
from unbraid.types import Scalar

Subembeddings = Float[Tensor, "b s e"]
InfoMinForm = Literal["corrected", "printed"]
Reduction = Literal["sum", "mean"]


def infomin(z: Subembeddings, *, temperature: float, form: InfoMinForm = "corrected") -> Scalar:
    r"""Negated InfoNCE between subembeddings (Eq. 4), a mean over the rows of one view.

    .. math:: R = \sum_{k ≠ k'} \frac1b \sum_i
              \log \frac{\exp(z_{i,k} \cdot z_{i,k'} / τ)}{\sum_a \exp(z_{i,k} \cdot z_{a,m} / τ)}

    `corrected` has m = k' and all rows a: the ratio is a probability, and R a lower bound on mutual information less a
    constant. `printed` has m = k, as the paper prints it, and all rows a but i, as in InfoMax (Eq. 1): R then falls
    when subembeddings k of different images come closer, against InfoMax.
    """
    everyone = all_gather(z)
    rows = torch.arange(len(z), device=z.device)[:, None] + rank() * len(z)
    total = z.new_zeros(())
    for k, other in permutations(range(z.shape[1]), 2):
        with torch.autocast(z.device.type, enabled=False):  # which would round the similarities
            similarity = z[:, k] @ everyone[:, other].T / temperature
            if form == "corrected":
                normalizer = similarity.logsumexp(1)
            else:
                within = z[:, k] @ everyone[:, k].T / temperature
                normalizer = within.scatter(1, rows, -torch.inf).logsumexp(1)
        total = total + (similarity.gather(1, rows)[:, 0] - normalizer).mean()
    return total


def orthogonality(
    z1: Subembeddings, z2: Subembeddings, *, permuted: bool = False, reduction: Reduction = "sum"
) -> Scalar:
    r"""The absolute cosines between subembeddings of both views of an image (Eq. 5), a mean over the views i.

    .. math:: R = \sum_{k ≠ k'} \frac1{2b} \sum_i \sum_{j ∈ \{i, i'\}} |z_{i,k} \cdot z_{j,k'}|

    with i' the other view of i; with the reduction `mean` half of it, a mean over j. With `permuted`, the dimensions of
    :math:`z_{i,k}` are permuted first, with one permutation for all rows per call, from torch's default generator
    (Eq. 6).
    """
    moved = z1, z2
    if permuted:
        order = torch.rand(z1.shape[2], device=z1.device).argsort()
        moved = z1.index_select(2, order), z2.index_select(2, order)
    pairs = [(a, b) for a in moved for b in (z1, z2)]
    cosines = torch.stack([(a[:, :, None] * b[:, None]).sum(3) for a, b in pairs])  # (4, b, k, k')
    between = cosines.abs().mean((0, 1))  # over i and j
    mean = between.sum() - between.diagonal().sum()
    return 2 * mean if reduction == "sum" else mean


def hessian_blocks(gradient: Subembeddings, *, epsilon: float = 1e-12) -> Scalar:
    r"""The Frobenius norm of the off-diagonal blocks of the Gauss-Newton matrix, a mean over rows (Eqs. 7, 8).

    .. math:: R = \frac1b \sum_i \sqrt{ε + \sum_{k < k'} \| g_{i,k} g_{i,k'}^T \|_F^2}
              = \frac1b \sum_i \sqrt{ε + \sum_{k < k'} \| g_{i,k} \|^2 \| g_{i,k'} \|^2}

    with g the gradient of the contrastive loss with respect to the embedding. Each block counts once, so two
    subembeddings give Eq. 8.
    """
    squares = gradient.square().sum(2)
    blocks = (squares[:, :, None] * squares[:, None]).triu(1)
    return (epsilon + blocks.sum((1, 2))).sqrt().mean()


def unit_subembeddings(codes: Float[Tensor, "b d"], count: int) -> Subembeddings:
    """The code split into `count` subembeddings of equal size, each normalized to length 1."""
    return F.normalize(codes.unflatten(1, (count, -1)), dim=2)
