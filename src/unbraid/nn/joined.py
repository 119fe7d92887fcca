"""Two encoders that share the work."""

import torch

from unbraid.nn.base import Encoder
from unbraid.types import Gaussian, Observations


class Joined(Encoder):
    """The posteriors of two encoders of the same observations, side by side in one code.

    Args:
        first: Puts out the first codes.
        second: Puts out those after them.
    """

    def __init__(self, first: Encoder, second: Encoder) -> None:
        super().__init__()
        self.first, self.second = first, second
        self.codes = first.codes + second.codes
        self.shape: tuple[int, ...] = first.shape  # type: ignore[assignment]

    @property
    def encoders(self) -> tuple[Encoder, ...]:
        """All that were joined, one after the other."""
        first = self.first.encoders if isinstance(self.first, Joined) else (self.first,)
        return (*first, self.second)

    def forward(self, x: Observations) -> Gaussian:
        one, other = self.first(x), self.second(x)
        return Gaussian(torch.cat([one.mean, other.mean], 1), torch.cat([one.logvar, other.logvar], 1))
