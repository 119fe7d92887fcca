"""Features that train one after the other."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from unbraid.schedules import Schedule


class SequentialFeatures(NamedTuple):
    """Which features of a code are active and which are frozen, as a function of the step.

    Args:
        num_features: Number of features.
        feature_dim: Number of dimensions per feature.
        schedule: Schedule of the number of active features, rounded down and at least 1. Default: all.
        freeze_learned: Whether a feature is frozen once the next feature becomes active.
    """

    num_features: int
    feature_dim: int
    schedule: Schedule | None
    freeze_learned: bool

    def active(self, step: Tensor) -> Bool[Tensor, "1 k"]:
        """The features that are allowed to carry information."""
        count = self.num_features if self.schedule is None else self._num_active(self.schedule, step)
        return self._before(count, step)

    def frozen(self, step: Tensor) -> Bool[Tensor, "1 k"]:
        """All active features but the newest; none before the schedule has activated a further feature."""
        if self.schedule is None or not self.freeze_learned:
            return self._before(0, step)
        first, now = (self._num_active(self.schedule, at) for at in (torch.zeros_like(step), step))
        return self._before(now - 1, step) & (now > first)

    def trainable(self, step: Tensor) -> Bool[Tensor, "1 k"]:
        """The features that are active and not frozen."""
        return self.active(step) & ~self.frozen(step)

    def mask_inactive(self, codes: Float[Tensor, "b d"], step: Tensor) -> Float[Tensor, "b d"]:
        """The codes with inactive features set to zero and frozen features detached."""
        if self.schedule is None:
            return codes
        if self.freeze_learned:
            codes = torch.where(self.dims_of(self.frozen(step)), codes.detach(), codes)
        return codes * self.dims_of(self.active(step)).to(codes.dtype)

    def dims_of(self, features: Bool[Tensor, "b k"]) -> Bool[Tensor, "b d"]:
        """The dimensions of features."""
        return features.repeat_interleave(self.feature_dim, 1)

    def _num_active(self, schedule: Schedule, step: Tensor) -> Tensor:
        return schedule(step).floor().clamp(1, self.num_features)

    def _before(self, index: Tensor | int, step: Tensor) -> Bool[Tensor, "1 k"]:
        return torch.arange(self.num_features, device=step.device)[None] < index
