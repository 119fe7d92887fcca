"""Squared maximum mean discrepancy between two samples, with Gaussian kernels.

Gretton et al., 2012, A Kernel Two-Sample Test, JMLR 13. By random features: Zhao & Meng, 2015, FastMMD,
arXiv:1405.2664, as Louizos et al., 2016, use it.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unbraid.distributed import all_gather
from unbraid.types import Codes, Scalar


def gaussian_kernel(
    x: Float[Tensor, "n d"], y: Float[Tensor, "m d"], widths: Sequence[float]
) -> Float[Tensor, "n m"]:
    r"""The sum of :math:`\exp(-\|x - y\|^2 / 2σ^2)` over the widths σ."""
    distance = (x[:, None] - y[None]).square().sum(2)  # not a matrix product, which autocast would round
    return sum((torch.exp(distance * (-0.5 / width**2)) for width in widths), torch.zeros_like(distance))


def mmd(
    x: Float[Tensor, "n d"], y: Float[Tensor, "m d"], widths: Sequence[float], *, unbiased: bool = False
) -> Scalar:
    r"""The squared MMD of two samples, each gathered over all processes.

    .. math:: E[k(x, x')] + E[k(y, y')] - 2 E[k(x, y)]

    The biased estimate compares every row with itself too: it is never negative, and positive on average for two
    samples of one distribution. The unbiased estimate does not, and may be negative.
    """
    x, y = all_gather(x), all_gather(y)
    within = _within(x, widths, unbiased) + _within(y, widths, unbiased)
    return within - 2 * gaussian_kernel(x, y, widths).mean()


def _within(x: Float[Tensor, "n d"], widths: Sequence[float], unbiased: bool) -> Scalar:
    kernel, n = gaussian_kernel(x, x, widths), len(x)
    if not unbiased:
        return kernel.mean()
    if n < 2:
        raise ValueError(f"The unbiased discrepancy needs at least 2 rows in each sample; got {n}.")
    return (kernel.sum() - kernel.diagonal().sum()) / (n * (n - 1))


def random_features(z: Float[Tensor, "n d"], *, width: float, count: int = 500) -> Float[Tensor, "n f"]:
    r"""Random features ψ(z), drawn at every call, whose inner products approximate a Gaussian kernel.

    .. math:: ψ(z) = \sqrt{2/D} \cos(z W / σ + b), \quad W ∼ N(0, 1), \; b ∼ U(0, 2π)

    All processes draw the same features, because they share the state of their generators.
    """
    w = torch.randn(z.shape[1], count, device=z.device, dtype=z.dtype)
    b = 2 * math.pi * torch.rand(count, device=z.device, dtype=z.dtype)
    with torch.autocast(z.device.type, enabled=False):  # which would round the phases
        return math.sqrt(2 / count) * torch.cos(z @ w / width + b)


def fast_mmd(x: Float[Tensor, "n d"], y: Float[Tensor, "m d"], *, width: float, count: int = 500) -> Scalar:
    """The biased `mmd` with one kernel, from random features, in time linear in the number of rows."""
    x, y = all_gather(x), all_gather(y)
    first, second = random_features(torch.cat([x, y]), width=width, count=count).split([len(x), len(y)])
    return (first.mean(0) - second.mean(0)).square().sum()


def fast_group_mmd(
    z: Codes, groups: Int[Tensor, " b"], size: int, *, width: float, count: int = 500
) -> Scalar:
    """The `fast_mmd` between each group and all other rows of the global batch, averaged over the groups.

    With two groups it is the MMD between them. Groups without rows, and a group of all rows, are left out.

    Args:
        z: Codes to compare.
        groups: Group index of each row, from 0.
        size: Number of groups.
        width: Width σ of the kernel.
        count: Number of random features.
    """
    features, groups = random_features(all_gather(z), width=width, count=count), all_gather(groups)
    members = (groups[:, None] == torch.arange(size, device=z.device)[None]).to(z.dtype)
    rows, inside = len(members), members.sum(0)
    with torch.autocast(z.device.type, enabled=False):
        sums = members.T @ features
    difference = (
        sums / inside.clamp(min=1)[:, None] - (features.sum(0) - sums) / (rows - inside).clamp(min=1)[:, None]
    )
    counts = ((inside > 0) & (inside < rows)).to(z.dtype)
    return (difference.square().sum(1) * counts).sum() / counts.sum().clamp(min=1)
