"""An adversarial loss between real and reweighted images.

Unsupervised Disentanglement Learning by Intervention, 2021, Sec. 4: images after an intervention have another
distribution than those before where factors are correlated. Weights W make up for it: at the optimum they are the
ratio of the two densities (Prop. 2).
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from unbraid.distributed import gather, processes, rank
from unbraid.types import Scalar


def normalised_weights(log_w: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
    """W / N, with N the mean of W over the batch, of all processes: the weights average to one.

    A softmax times the size of the batch, which no large W makes infinite.
    """
    everyone = gather(log_w)
    weights = everyone.softmax(0) * len(everyone)
    if processes() == 1:
        return weights
    return weights[rank() * len(log_w) : (rank() + 1) * len(log_w)]


def adversarial_terms(
    real: Float[Tensor, " b"] | None,
    fake: Float[Tensor, " b"],
    weights: Float[Tensor, " b"],
    *,
    saturating: bool = True,
) -> Scalar:
    r"""What a discriminator maximises and its rivals minimise, from its logits.

    .. math:: E[\log Disc(x)] + E[w \log(1 - Disc(x'))]

    Not saturating, for the rivals: :math:`-E[w \log Disc(x')]`, whose gradient stays large where the discriminator
    is sure, in the place of the second term. Without `real` the first term is left out, for rivals that cannot
    change it.
    """
    against = (weights * (-F.softplus(fake) if saturating else F.softplus(-fake))).mean()
    return against if real is None else against - F.softplus(-real).mean()
