"""An adversarial loss between real images and weighted fake images.

Unsupervised Disentanglement Learning by Intervention, 2021, Sec. 4: where factors are correlated, the
distribution of images changes by an intervention. Weights W correct for the change: at the optimum they are the ratio
of the two densities (Prop. 2).
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from unbraid.distributed import all_gather, rank, world_size
from unbraid.types import Scalar


def normalized_weights(log_w: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
    """W / N, with N the mean of W over the global batch: the weights average to one.

    A softmax times the batch size, which is finite for large W.
    """
    global_log_w = all_gather(log_w)
    weights = global_log_w.softmax(0) * len(global_log_w)
    if world_size() == 1:
        return weights
    return weights[rank() * len(log_w) : (rank() + 1) * len(log_w)]


def adversarial_terms(
    real: Float[Tensor, " b"] | None,
    fake: Float[Tensor, " b"],
    weights: Float[Tensor, " b"],
    *,
    saturating: bool = True,
) -> Scalar:
    r"""The adversarial loss from the logits of a discriminator, which maximizes it.

    .. math:: E[\log Disc(x)] + E[w \log(1 - Disc(x'))]

    Without `saturating`, the second term is :math:`-E[w \log Disc(x')]`, for players that minimize the loss: its
    gradient stays large where the discriminator is confident. Without `real` the first term is left out.
    """
    fake_term = (weights * (-F.softplus(fake) if saturating else F.softplus(-fake))).mean()
    return fake_term if real is None else fake_term - F.softplus(-real).mean()
