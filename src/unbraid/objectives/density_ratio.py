"""Density ratios from a critic that classifies codes and codes with shuffled dimensions.

Kim & Mnih, 2018, Disentangling by Factorizing, arXiv:1802.05983. The first logit of the critic is
for codes, the second for shuffled codes.
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from unbraid.types import Scalar


def log_density_ratio(logits: Float[Tensor, "b 2"]) -> Scalar:
    r"""The total correlation that a critic D estimates from codes (Eq. 3).

    .. math:: TC(z) ≈ E_{q(z)} \log (D(z) / (1 - D(z)))

    Exact for the optimal critic, whose logits differ by log q(z) - log prod_j q(z_j).
    """
    return (logits[:, 0] - logits[:, 1]).mean()


def critic_cross_entropy(original: Float[Tensor, "b 2"], shuffled: Float[Tensor, "b 2"]) -> Scalar:
    """The cross-entropy of the critic: log 2 for a random guess, 0 for a perfect critic."""
    return 0.5 * (
        F.softplus(original[:, 1] - original[:, 0]).mean()
        + F.softplus(shuffled[:, 0] - shuffled[:, 1]).mean()
    )
