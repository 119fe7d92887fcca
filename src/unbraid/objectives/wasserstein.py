"""Optimal transport between codes. Towards Principled Objectives for Contrastive Disentanglement, 2020, Sec. 3."""

from jaxtyping import Float
from torch import Tensor

from unbraid.distributed import all_gather
from unbraid.objectives.assignment import assignment
from unbraid.types import Codes, Gaussian, Scalar


def squared_w2(a: Codes, b: Float[Tensor, "m d"]) -> Scalar:
    r"""The minimum mean squared distance of transporting one batch onto another of the same size (not its root).

    .. math:: W_2^2 = \min_T \sum_{ij} T_{ij} ‖a_i - b_j‖^2, \quad T 1 = T^⊤ 1 = 1/B \quad \text{(Eq. 9)}

    The optimal plan is computed exactly; between batches of equal size it is an assignment. By Danskin's theorem the
    gradient is that of the cost with the plan fixed. The distance of two batches of one distribution is not 0: it is
    14.5 on average for two batches of 128 from N(0, I) in 16 dimensions.

    With several processes, the distance is between global batches.
    """
    a, b = all_gather(a), all_gather(b)
    if a.shape != b.shape:
        raise ValueError(
            f"squared_w2 requires two batches of the same size; got {tuple(a.shape)} and {tuple(b.shape)}."
        )
    partner = assignment(squared_distances(a.detach() - a.detach().mean(0), b.detach() - b.detach().mean(0)))
    return (a - b.take_along_dim(partner[:, None], 0)).square().sum(1).mean()


def squared_distances(a: Codes, b: Float[Tensor, "m d"]) -> Float[Tensor, "b m"]:
    """‖a_i - b_j‖² for all pairs, from differences: a matrix product would be less accurate, and rounded by autocast.

    The plan does not depend on the means of the batches: with centered batches the numbers are more accurate.
    """
    return (a[:, None] - b[None]).square().sum(2)


def squared_w2_to_zero(q: Gaussian) -> Scalar:
    r"""W_2^2 between a Gaussian and the point 0, averaged over the batch (Lemma 2).

    .. math:: W_2^2(N(μ, σ^2), δ_0) = ‖μ‖^2 + ‖σ‖^2
    """
    return (q.mean.square() + q.variance).sum(1).mean()
