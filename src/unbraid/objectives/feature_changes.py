"""How much setting a feature of a code to that of another observation changes what is decoded."""

from jaxtyping import Bool, Float
from torch import Tensor

from unbraid.distributed import gather
from unbraid.types import Observations, Scalar

LEAST = 0.01  # of the observations' variance: a feature that changes less is dead


def total_variance(x: Observations) -> Scalar:
    """The variance of observations, of all processes, summed over pixels."""
    squares, centre = gather(x.flatten(1).square().sum(1)), gather(x.mean(0, keepdim=True)).mean(0)
    return squares.mean() - centre.square().sum()


def variance_shares(changes: Float[Tensor, " k"], variance: Scalar) -> Float[Tensor, " k"]:
    """The share of the observations' variance that setting each feature makes, from its mean squared change, summed
    over pixels: two independent values lie twice their variance apart."""
    return changes / (2 * variance)


def shares_of_change(
    chosen: Bool[Tensor, "b k"], change: Observations, x: Observations
) -> Float[Tensor, " k"]:
    """The share of the observations' variance that each feature makes; 0 for one that was never set.

    Args:
        chosen: The feature of each observation that was set.
        change: Of what is decoded.
        x: The observations.
    """
    feature, amount = gather(chosen.to(change.dtype)), gather(change.square().flatten(1).sum(1))
    changes = feature.mT @ amount / feature.sum(0).clamp(min=1)
    return variance_shares(changes, total_variance(x))


def count_active(shares: Float[Tensor, " k"]) -> Scalar:
    """How many features make more than a hundredth of the observations' variance; for the log, without gradient."""
    return (shares.detach() > LEAST).to(shares.dtype).sum()
