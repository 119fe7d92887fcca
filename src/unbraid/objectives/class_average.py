"""Posteriors averaged over the observations of a class in the batch.

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Sec. 3.3.
"""

import torch
from jaxtyping import Bool
from torch import Tensor

from unbraid.distributed import all_gather
from unbraid.types import Gaussian, Labels


def class_average(q: Gaussian, labels: Labels) -> tuple[Gaussian, Bool[Tensor, " b"]]:
    r"""The average posterior of the class of each row in the global batch, and whether other rows have that class.

    .. math:: \bar q = N(\frac1{|C|} \sum_{i ∈ C} μ_i, \; \frac1{|C|} \sum_{i ∈ C} σ_i^2) \quad \text{(Eq. 8)}

    The average for a row that is alone in its class is the posterior of that row.
    """
    same_class = (labels[:, None] == all_gather(labels)[None]).to(q.mean.dtype)
    class_size = same_class.sum(1, keepdim=True)
    with torch.autocast(q.mean.device.type, enabled=False):  # autocast would round the averages
        mean, variance = (same_class @ all_gather(moment) / class_size for moment in (q.mean, q.variance))
    return Gaussian(mean, variance.log()), class_size.squeeze(1) > 1
