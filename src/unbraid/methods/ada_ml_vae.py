"""Ada-ML-VAE. Locatello et al., 2020, Weakly-Supervised Disentanglement Without Compromises, arXiv:2002.02886."""

from unbraid.methods.adaptive_vae import AdaptiveVAE
from unbraid.objectives import product_posterior
from unbraid.types import Gaussian


class AdaMLVAE(AdaptiveVAE):
    r"""β-VAE on pairs, whose posteriors are multiplied in the dimensions that the two images are inferred to share.

    .. math:: L = ½ \sum_{i=1}^2 -E_{\tilde q(z|x_i)}[\log p(x_i|z)] + β KL(\tilde q(z|x_i) \| p(z))

    Here :math:`\tilde q(z_j|x_i)` is the normalized geometric mean of both posteriors, of variance
    :math:`2σ_1^2σ_2^2 / (σ_1^2 + σ_2^2)`, where :math:`δ_j = KL(q(z_j|x_1) \| q(z_j|x_2))` lies below the
    middle between the largest and the smallest of the pair, and is :math:`q(z_j|x_i)` elsewhere (Sec. 4). How
    many factors changed is not used.

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        beta: Weight of the KL divergence.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    @staticmethod
    def merged(q1: Gaussian, q2: Gaussian) -> Gaussian:
        return product_posterior(q1, q2)
