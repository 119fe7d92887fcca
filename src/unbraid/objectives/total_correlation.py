"""Total correlation of the aggregate posterior, estimated from one batch, and the decomposition of the KL.

Chen et al., 2018, Isolating Sources of Disentanglement in VAEs, arXiv:1802.04942, Sec. 3.1 and App. C.
"""

import math
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.distributed import all_gather, rank
from unbraid.types import Codes, Gaussian, Scalar

Sampling = Literal["weighted", "stratified"]


class Decomposition(NamedTuple):
    """KL(q(z|x) || p(z)) of one draw of z, in three terms that add up to it exactly (Eq. 2)."""

    mutual_information: Scalar  # KL(q(z, n) || q(z) p(n)), the index-code mutual information
    total_correlation: Scalar  # KL(q(z) || prod_j q(z_j))
    dimension_wise_kl: Scalar  # sum_j KL(q(z_j) || p(z_j))


def total_correlation(z: Codes, q: Gaussian, n: int, *, sampling: Sampling = "weighted") -> Scalar:
    r"""KL(q(z) || \prod_j q(z_j)) of the codes z, drawn from the posteriors q of a batch out of n images.

    Weighted: :math:`q(z) ≈ 1/(nM) \sum_j q(z|x_j)` over the M images of the batch. The logarithm is on average a lower
    bound of :math:`\log q(z)`, so the estimate is biased: it is exactly (d - 1) log n when all posteriors are equal,
    where the total correlation is 0. The bias does not depend on the parameters in that case, and decreases as
    posteriors differ. The estimate is for training, not for reports.

    Stratified: an unbiased estimate of q(z) (but not of its logarithm), exactly 0 when all posteriors are equal.
    Both estimates may be negative.
    """
    return decompose(z, q, n, sampling=sampling).total_correlation


def decompose(z: Codes, q: Gaussian, n: int, *, sampling: Sampling = "weighted") -> Decomposition:
    """Mutual information, total correlation and dimension-wise KL of z ~ q; for the bias see above.

    With several processes, the codes of this process are compared with the posteriors of all processes.
    """
    everyone = Gaussian(all_gather(q.mean), all_gather(q.logvar))
    log_weights = log_weights_of(len(z), len(everyone.mean), n, sampling, z)
    # log density of row i under the posterior of row j, per dimension: (b, M, d)
    log_q = _log_density(z[:, None], everyone.mean[None], everyone.logvar[None])
    log_qz = torch.logsumexp(log_q.sum(2) + log_weights, 1)
    log_qz_marginals = torch.logsumexp(log_q + log_weights[:, :, None], 1).sum(1)
    log_qz_given_x = _log_density(z, q.mean, q.logvar).sum(1)
    log_pz = _log_density(z, torch.zeros_like(z), torch.zeros_like(z)).sum(1)
    return Decomposition(
        (log_qz_given_x - log_qz).mean(),
        (log_qz - log_qz_marginals).mean(),
        (log_qz_marginals - log_pz).mean(),
    )


def _log_density(z: Tensor, mean: Tensor, logvar: Tensor) -> Tensor:
    return -0.5 * ((z - mean).square() * (-logvar).exp() + logvar + math.log(2 * math.pi))


def log_weights_of(rows: int, batch: int, n: int, sampling: Sampling, like: Tensor) -> Float[Tensor, "r m"]:
    """Log weights of the posteriors of the global batch, per row of this process."""
    if sampling == "weighted":
        return like.new_full((rows, batch), -math.log(n * batch))
    m = batch - 1
    if not 1 <= m < n:
        raise ValueError(
            f"Stratified sampling requires a batch of 2 to n images, with n the size of the dataset; "
            f"got a batch of {batch} and n = {n}."
        )
    # The image of row i itself has weight 1/n. Of the m others, each has 1/m, except the last, here the next row,
    # whose weight makes the sum 1 (App. C).
    row = torch.arange(rows, device=like.device)[:, None] + rank() * rows
    column = torch.arange(batch, device=like.device)[None]
    weights = like.new_full((rows, batch), 1 / m)
    weights = weights.masked_fill(column == (row + 1) % batch, (n - m) / (n * m))
    return weights.masked_fill(column == row, 1 / n).log()
