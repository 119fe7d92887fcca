"""Features of a code that learn in turn."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unbraid.schedules import Schedule


class Turns(NamedTuple):
    """Which features of a code may carry something, and which have settled, by step.

    Args:
        features: How many there are.
        dimensions: Of each.
        free: How many may carry something, by step and rounded down, and at least one; by default all of them.
        settle: Whether a feature stays as it is once the next one is free.
    """

    features: int
    dimensions: int
    free: Schedule | None
    settle: bool

    def free_features(self, step: Tensor) -> Bool[Tensor, "1 k"]:
        """Those that may carry something."""
        return self._before(self.features if self.free is None else self._freed(self.free, step), step)

    def settled_features(self, step: Tensor) -> Bool[Tensor, "1 k"]:
        """All free ones but the last; none, as long as no further one has been freed."""
        if self.free is None or not self.settle:
            return self._before(0, step)
        first, now = (self._freed(self.free, at) for at in (torch.zeros_like(step), step))
        return self._before(now - 1, step) & (now > first)

    def learning_features(self, step: Tensor) -> Bool[Tensor, "1 k"]:
        """Those that are free and have not settled."""
        return self.free_features(step) & ~self.settled_features(step)

    def held(self, codes: Float[Tensor, "b d"], step: Tensor) -> Float[Tensor, "b d"]:
        """With features that are not free yet at zero, and without gradient of those that have settled."""
        if self.free is None:
            return codes
        if self.settle:
            codes = torch.where(self.codes_of(self.settled_features(step)), codes.detach(), codes)
        return codes * self.codes_of(self.free_features(step)).to(codes.dtype)

    def codes_of(self, features: Bool[Tensor, "b k"]) -> Bool[Tensor, "b d"]:
        """The dimensions of features."""
        return features.repeat_interleave(self.dimensions, 1)

    def _freed(self, free: Schedule, step: Tensor) -> Tensor:
        return free(step).floor().clamp(1, self.features)

    def _before(self, place: Tensor | int, step: Tensor) -> Bool[Tensor, "1 k"]:
        return torch.arange(self.features, device=step.device)[None] < place
