"""How far posteriors are from each other, and so from their mixture.

Moyer et al., 2018, Invariant Representations without Adversarial Training, arXiv:1805.09458, Sec. 3.
"""

from unbraid.distributed import gather
from unbraid.types import Gaussian, Scalar


def pairwise_kl(q: Gaussian) -> Scalar:
    r"""KL(q_i || q_j), summed over codes, averaged over all pairs of rows of the joined batch.

    .. math:: \frac1{n^2} \sum_{ij} KL(q_i \| q_j) = ½ \sum_d \left( (E[σ^2] + Var[μ]) E[1/σ^2]
              + E[(μ - E[μ])^2 / σ^2] - 1 \right)

    Logarithms cancel over the pairs, so it takes no more than one pass over the rows. By Jensen's inequality it
    is never below :math:`\frac1n \sum_i KL(q_i \| q(z))`, where q(z) is the mixture of all rows.
    """
    mean, logvar = gather(q.mean), gather(q.logvar)
    squares = (mean - mean.mean(0)).square()
    spread = logvar.exp().mean(0) + squares.mean(0)
    precision = (-logvar).exp()
    return 0.5 * (spread * precision.mean(0) + (squares * precision).mean(0) - 1).sum()
