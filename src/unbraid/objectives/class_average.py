"""What the posteriors of one class have in common: their averages over the batch.

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Sec. 3.3.
"""

import torch
from jaxtyping import Bool
from torch import Tensor

from unbraid.distributed import gather
from unbraid.types import Gaussian, Labels


def class_average(q: Gaussian, labels: Labels) -> tuple[Gaussian, Bool[Tensor, " b"]]:
    r"""For each row the average posterior of its class in the joined batch, and whether it has company there.

    .. math:: \bar q = N(\frac1{|C|} \sum_{i ∈ C} μ_i, \; \frac1{|C|} \sum_{i ∈ C} σ_i^2) \quad \text{(Eq. 8)}

    The average of a row that is alone in its class is its own posterior.
    """
    same = (labels[:, None] == gather(labels)[None]).to(q.mean.dtype)
    size = same.sum(1, keepdim=True)
    with torch.autocast(q.mean.device.type, enabled=False):  # which would round the averages
        mean, variance = same @ gather(q.mean) / size, same @ gather(q.variance) / size
    return Gaussian(mean, variance.log()), size.squeeze(1) > 1
