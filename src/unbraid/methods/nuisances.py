"""Known nuisances as inputs of conditional networks: one vector per observation."""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from unbraid.distributed import all_gather
from unbraid.methods.base import BuildSpec
from unbraid.types import Nuisances, Observations


class KnownNuisances(nn.Module):
    """Concatenated one-hot vectors of all known nuisances.

    A value that did not occur in training is encoded as zeros, and so are all nuisances when none are passed.

    Args:
        sizes: Number of values of each nuisance.
    """

    seen: Tensor

    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.sizes = tuple(sizes)
        self.register_buffer("seen", torch.zeros(sum(sizes), dtype=torch.bool))

    def forward(self, values: Nuisances | None, like: Tensor) -> Float[Tensor, "b v"]:
        """The vector of each row of values, with the device, dtype and number of rows of `like`."""
        if values is None:
            return like.new_zeros(len(like), sum(self.sizes))
        return self._one_hots(values).to(like.dtype) * self.seen.to(like.dtype)

    def record_values(self, values: Nuisances) -> Nuisances:
        """Records which values occur in a training batch, and returns the values."""
        occurs = all_gather(self._one_hots(values).float()).amax(0) > 0
        self.seen.logical_or_(occurs)
        return values

    def _one_hots(self, values: Nuisances) -> Bool[Tensor, "b v"]:
        columns = zip(values.unbind(1), self.sizes, strict=True)
        return torch.cat([one_hot(value, size) for value, size in columns], 1)


def one_hot(values: Int[Tensor, " b"], size: int) -> Bool[Tensor, "b v"]:
    """True in the column of each value; False everywhere for values beyond the size.

    Unlike `F.one_hot`, it does not synchronize with the device.
    """
    return values[:, None] == torch.arange(size, device=values.device)[None]


def known_nuisances(batch: Any) -> Nuisances:
    """The known nuisances of a batch; raises if it has none."""
    if batch.nuisances is None:
        raise ValueError(
            "This method requires known nuisances, and the batch has none. Use a dataset with nuisances."
        )
    return batch.nuisances


def concat_nuisances(x: Observations, s: Float[Tensor, "b v"]) -> Float[Tensor, "b ..."]:
    """Observations with the vectors as additional columns of rows, or as additional constant channels of images."""
    channels = s.view(*s.shape, *[1] * (x.ndim - 2)).expand(-1, -1, *x.shape[2:])
    return torch.cat([x, channels.to(x.dtype)], 1)


def require_nuisances(name: str, spec: BuildSpec) -> None:
    """Raises if the dataset has no known nuisance."""
    if not spec.nuisances:
        raise ValueError(
            f"{name} requires known nuisances, and the dataset has none. Use a dataset with nuisances, or a method "
            "without them, such as uai."
        )
