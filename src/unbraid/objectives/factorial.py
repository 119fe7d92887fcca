"""The likelihood of codes under factorial Gaussians, one per set of augmentations or per class."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unbraid.types import Codes, Scalar

Sets = Float[Tensor, "b m d"]  # the codes of m observations in each of b sets


def factorial_nll(
    z: Float[Tensor, "*b d"], mean: Float[Tensor, "*#b d"], sigma: Float[Tensor, "*#b d"]
) -> Scalar:
    r"""Negative log-density under factorial Gaussians, summed over dimensions, averaged over observations.

    .. math:: \sum_i \frac{(z_i - μ_i)^2}{2 σ_i^2} + \log σ_i + ½ \log 2π
    """
    each = 0.5 * ((z - mean) / sigma).square() + sigma.log()
    return each.sum(-1).mean() + 0.5 * z.shape[-1] * math.log(2 * math.pi)


def set_moments(z: Sets, *, floor: float) -> tuple[Float[Tensor, "b 1 d"], Float[Tensor, "b 1 d"]]:
    """Mean and standard deviation of the codes of each set, the latter at least `floor`.

    The standard deviation is the maximum-likelihood estimate, which divides by m. Where it is below the floor, the
    floor is the maximum-likelihood estimate under the constraint, so the likelihood is that of a model with bounded
    standard deviations. It is bounded, and smooth at the bound.
    """
    mean = z.mean(1, keepdim=True)
    variance = (z - mean).square().mean(1, keepdim=True)
    return mean, variance.clamp(min=floor**2).sqrt()


def class_moments(
    z: Codes, labels: Int[Tensor, " b"], classes: int, *, floor: float
) -> tuple[Float[Tensor, "k d"], Float[Tensor, "k d"]]:
    """Mean and standard deviation of the codes of each class in the batch, the latter at least `floor`.

    A class that does not occur in the batch has mean 0 and the floor as its standard deviation.
    """
    member = (labels[:, None] == torch.arange(classes, device=z.device)).to(z.dtype)  # (b, k)
    counts = member.sum(0).clamp(min=1)[:, None]
    with torch.autocast(z.device.type, enabled=False):  # which would round the moments
        mean = member.t() @ z / counts
        variance = member.t() @ (z - member @ mean).square() / counts
    return mean, variance.clamp(min=floor**2).sqrt()
