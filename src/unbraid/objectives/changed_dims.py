"""The dimensions that changed between two images, inferred from their posteriors and the number k of changes.

Reconstruction for Disentanglement, Contrast for Invariance, 2022 (SW-VAE), Sec. 3.2.
"""

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unbraid.objectives.elbo import kl
from unbraid.types import Codes, Gaussian

Divergence = Literal["kl", "jsd", "jsd-moments"]


def jensen_shannon(q1: Gaussian, q2: Gaussian, *, moments: bool = False) -> Codes:
    r"""The Jensen-Shannon divergence of two posteriors per dimension (Eq. 4), with a Gaussian for the mixture.

    .. math:: ½ KL(q_1 \| M) + ½ KL(q_2 \| M)

    The paper's M is the mixture of both, for which there is no closed form. Here M is a Gaussian with the mean
    of both means and the mean of both variances. With `moments`, its variance is that of the mixture, which
    adds (μ1 - μ2)² / 4; the divergence then grows with the logarithm of the distance, not with its square.
    """
    variance = 0.5 * (q1.variance + q2.variance)
    if moments:
        variance = variance + 0.25 * (q1.mean - q2.mean).square()
    between = Gaussian(0.5 * (q1.mean + q2.mean), variance.log())
    return 0.5 * (kl(q1, between) + kl(q2, between))


def divergence_per_dim(q1: Gaussian, q2: Gaussian, divergence: Divergence = "kl") -> Codes:
    """The divergence of two posteriors per dimension: Eq. 3, KL from the first to the second, or Eq. 4."""
    if divergence == "kl":
        return kl(q1, q2)
    return jensen_shannon(q1, q2, moments=divergence == "jsd-moments")


def unchanged_mask(
    change: Codes, k: Int[Tensor, " b"], *, progress: Float[Tensor, ""] | None = None
) -> Bool[Tensor, "b d"]:
    """True for the dimensions to swap: all but the k with the largest change (Eq. 5).

    While `progress` increases from 0 to 1, the number of dimensions to swap increases from 1 to all but k, those with
    the smallest change first (warm-up by amount). The mask has no gradient.
    """
    with torch.no_grad():
        rank = change.argsort(1).argsort(1)  # 0 for the smallest change
        max_swapped = (change.shape[1] - k).clamp(min=0)
        if progress is None:
            return rank < max_swapped[:, None]
        amount = (1 + progress * (max_swapped - 1)).floor().clamp(min=0)
        return rank < torch.minimum(amount, max_swapped)[:, None]


def swap_where(z_l: Codes, z_m: Codes, swapped: Bool[Tensor, "b d"]) -> tuple[Codes, Codes]:
    """Both codes with the masked dimensions swapped between them, row by row (Eq. 5)."""
    return torch.where(swapped, z_m, z_l), torch.where(swapped, z_l, z_m)
