"""The change of decoded observations when a feature is set to its value in another observation."""

from jaxtyping import Bool, Float
from torch import Tensor

from unbraid.distributed import all_gather
from unbraid.types import Observations, Scalar

ACTIVE_VARIANCE_SHARE = 0.01  # of the observations' variance; below, a feature is inactive


def total_variance(x: Observations) -> Scalar:
    """The variance of observations over all processes, summed over pixels."""
    squares, center = all_gather(x.flatten(1).square().sum(1)), all_gather(x.mean(0, keepdim=True)).mean(0)
    return squares.mean() - center.square().sum()


def variance_shares(changes: Float[Tensor, " k"], variance: Scalar) -> Float[Tensor, " k"]:
    """Mean squared changes, summed over pixels, as fractions of the observations' variance. The expected squared
    distance of two independent values is twice their variance."""
    return changes / (2 * variance)


def variance_share_per_feature(
    chosen: Bool[Tensor, "b k"], change: Observations, x: Observations
) -> Float[Tensor, " k"]:
    """The change per feature as a fraction of the observations' variance; 0 for a feature that was never set.

    Args:
        chosen: One-hot of the feature that was set, per observation.
        change: Change of the decoded observations.
        x: The observations.
    """
    feature, amount = all_gather(chosen.to(change.dtype)), all_gather(change.square().flatten(1).sum(1))
    changes = feature.mT @ amount / feature.sum(0).clamp(min=1)
    return variance_shares(changes, total_variance(x))


def count_active(shares: Float[Tensor, " k"]) -> Scalar:
    """The number of features with a change above `ACTIVE_VARIANCE_SHARE`, for the log, without gradient."""
    return (shares.detach() > ACTIVE_VARIANCE_SHARE).to(shares.dtype).sum()
