"""Total correlation of the aggregate posterior, estimated from one batch, and the pieces of KL around it.

Chen et al., 2018, Isolating Sources of Disentanglement in VAEs, arXiv:1802.04942, Sec. 3.1 and App. C.
"""

import math
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.distributed import gather, rank
from unbraid.types import Codes, Gaussian, Scalar

Sampling = Literal["weighted", "stratified"]


class Decomposition(NamedTuple):
    """KL(q(z|x) || p(z)) of one draw of z, in three pieces that add up to it exactly (Eq. 2)."""

    mutual_information: Scalar  # KL(q(z, n) || q(z) p(n)), the index-code mutual information
    total_correlation: Scalar  # KL(q(z) || prod_j q(z_j))
    dimension_wise_kl: Scalar  # sum_j KL(q(z_j) || p(z_j))


def total_correlation(z: Codes, q: Gaussian, n: int, *, sampling: Sampling = "weighted") -> Scalar:
    r"""KL(q(z) || \prod_j q(z_j)) of the codes z, drawn from the posteriors q of a batch out of n images.

    Weighted: :math:`q(z) ≈ 1/(nM) \sum_j q(z|x_j)` over the M images of the batch. A lower bound of
    :math:`\log q(z)` on average, so the estimate is biased: it is exactly (d - 1) log n when all posteriors
    are alike, where the true value is the total correlation of one of them, 0. The offset does not depend on
    the parameters then, and shrinks as posteriors come apart; a training signal, not a number to report.

    Stratified: an unbiased estimate of q(z) (though not of its logarithm), exactly 0 when all posteriors are
    alike. Either may come out negative.
    """
    return decompose(z, q, n, sampling=sampling).total_correlation


def decompose(z: Codes, q: Gaussian, n: int, *, sampling: Sampling = "weighted") -> Decomposition:
    """Mutual information, total correlation and dimension-wise KL of z ~ q; for the bias see above.

    With several processes, the codes of this one are compared with the posteriors of all.
    """
    everyone = Gaussian(gather(q.mean), gather(q.logvar))
    log_weights = log_weights_of(len(z), len(everyone.mean), n, sampling, z)
    # of row i under the posterior of row j, code by code: (b, M, d)
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
    """Logarithms of the weights of the posteriors of the joined batch for each row of this process."""
    if sampling == "weighted":
        return like.new_full((rows, batch), -math.log(n * batch))
    m = batch - 1
    if not 1 <= m < n:
        raise ValueError(
            f"Stratified sampling needs a batch of 2 to n images, n being the size of the dataset; "
            f"got a batch of {batch} and n = {n}."
        )
    # Row i is its own image, drawn for sure: 1/n. Of the m others each stands for 1/m of the rest, and the
    # last of them, here the next row, makes up for what is missing to one (App. C).
    own = torch.arange(rows, device=like.device)[:, None] + rank() * rows
    every = torch.arange(batch, device=like.device)[None]
    weights = like.new_full((rows, batch), 1 / m)
    weights = weights.masked_fill(every == (own + 1) % batch, (n - m) / (n * m))
    return weights.masked_fill(every == own, 1 / n).log()
