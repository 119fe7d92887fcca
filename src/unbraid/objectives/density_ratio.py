"""Density ratios from a critic that tells codes from codes whose dimensions were shuffled.

Kim & Mnih, 2018, Disentangling by Factorising, arXiv:1802.05983. Of the critic's two logits the first stands
for codes as they are and the second for shuffled ones.
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from unbraid.types import Scalar


def log_density_ratio(logits: Float[Tensor, "b 2"]) -> Scalar:
    r"""The total correlation as a critic D sees it on codes as they are (Eq. 3).

    .. math:: TC(z) ≈ E_{q(z)} \log (D(z) / (1 - D(z)))

    Exact for the best critic, whose logits differ by log q(z) - log prod_j q(z_j).
    """
    return (logits[:, 0] - logits[:, 1]).mean()


def critic_cross_entropy(original: Float[Tensor, "b 2"], shuffled: Float[Tensor, "b 2"]) -> Scalar:
    """How badly the critic tells the two apart: log 2 for one that guesses, 0 for one that always knows."""
    return 0.5 * (
        F.softplus(original[:, 1] - original[:, 0]).mean()
        + F.softplus(shuffled[:, 0] - shuffled[:, 1]).mean()
    )
