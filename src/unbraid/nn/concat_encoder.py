"""Two encoders whose codes are concatenated."""

import torch
from torch import nn

from unbraid.nn.architectures import latent_dim_of
from unbraid.nn.base import Encoder
from unbraid.types import Gaussian, Observations


class ConcatEncoder(Encoder):
    """Concatenates the posteriors of two encoders of the same observations.

    Args:
        first: Encoder of the first dimensions.
        second: Encoder of the remaining dimensions.
    """

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second
        self.latent_dim = latent_dim_of(first) + latent_dim_of(second)
        self.shape: tuple[int, ...] = first.shape  # type: ignore[assignment]

    @property
    def encoders(self) -> tuple[nn.Module, ...]:
        """All concatenated encoders, in order."""
        first = self.first.encoders if isinstance(self.first, ConcatEncoder) else (self.first,)
        return (*first, self.second)

    def forward(self, x: Observations) -> Gaussian:
        q1, q2 = self.first(x), self.second(x)
        return Gaussian(torch.cat([q1.mean, q2.mean], 1), torch.cat([q1.logvar, q2.logvar], 1))
