"""The mean divergence between posteriors, a bound on their divergence from their mixture.

Moyer et al., 2018, Invariant Representations without Adversarial Training, arXiv:1805.09458, Sec. 3.
"""

from unbraid.distributed import all_gather
from unbraid.types import Gaussian, Scalar


def pairwise_kl(q: Gaussian) -> Scalar:
    r"""KL(q_i || q_j), summed over dimensions, averaged over all pairs of rows of the global batch.

    .. math:: \frac1{n^2} \sum_{ij} KL(q_i \| q_j) = ½ \sum_d \left( (E[σ^2] + Var[μ]) E[1/σ^2]
              + E[(μ - E[μ])^2 / σ^2] - 1 \right)

    Logarithms cancel over the pairs, so one pass over the rows suffices. By Jensen's inequality it
    is never below :math:`\frac1n \sum_i KL(q_i \| q(z))`, where q(z) is the mixture of all rows.
    """
    mean, logvar = all_gather(q.mean), all_gather(q.logvar)
    squares = (mean - mean.mean(0)).square()
    variance = logvar.exp().mean(0) + squares.mean(0)
    precision = (-logvar).exp()
    return 0.5 * (variance * precision.mean(0) + (squares * precision).mean(0) - 1).sum()
