"""Known nuisances as what conditional networks take: one vector for each observation."""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from unbraid.distributed import gather
from unbraid.methods.base import Facts
from unbraid.types import Nuisances, Observations


class KnownNuisances(nn.Module):
    """One-hots of all known nuisances, side by side.

    A value that training has never shown is the zero vector, and so are all of them when none are given.

    Args:
        sizes: How many values each nuisance has.
    """

    seen: Tensor

    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.sizes = tuple(sizes)
        self.register_buffer("seen", torch.zeros(sum(sizes), dtype=torch.bool))

    def forward(self, values: Nuisances | None, like: Tensor) -> Float[Tensor, "b v"]:
        """The vectors of the values; `like` has a row for each, and says where and in which precision."""
        if values is None:
            return like.new_zeros(len(like), sum(self.sizes))
        return self._one_hots(values).to(like.dtype) * self.seen.to(like.dtype)

    def see(self, values: Nuisances) -> Nuisances:
        """Remembers the values of a training batch."""
        shown = gather(self._one_hots(values).float()).amax(0) > 0
        self.seen.logical_or_(shown)
        return values

    def _one_hots(self, values: Nuisances) -> Bool[Tensor, "b v"]:
        columns = zip(values.unbind(1), self.sizes, strict=True)
        return torch.cat([one_hot(value, size) for value, size in columns], 1)


def one_hot(values: Int[Tensor, " b"], size: int) -> Bool[Tensor, "b v"]:
    """True in the column of each value; nowhere for one beyond the size. PyTorch's own makes a device wait."""
    return values[:, None] == torch.arange(size, device=values.device)[None]


def known_nuisances(batch: Any) -> Nuisances:
    """The known nuisances of a batch, which must have them."""
    if batch.nuisances is None:
        raise ValueError(
            "This method learns from known nuisances, and the batch has none: use a dataset that names them."
        )
    return batch.nuisances


def beside(x: Observations, s: Float[Tensor, "b v"]) -> Float[Tensor, "b ..."]:
    """Observations with vectors beside them: as further columns of rows, as constant channels of images."""
    channels = s.view(*s.shape, *[1] * (x.ndim - 2)).expand(-1, -1, *x.shape[2:])
    return torch.cat([x, channels.to(x.dtype)], 1)


def require_nuisances(name: str, facts: Facts) -> None:
    """Raises where the data name no nuisance."""
    if not facts.nuisances:
        raise ValueError(
            f"{name} removes known nuisances from its code, and the data names none: use a dataset that does, or "
            "a method that needs none, such as uai."
        )
