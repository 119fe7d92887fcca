"""Ada-GVAE. Locatello et al., 2020, Weakly-Supervised Disentanglement Without Compromises, arXiv:2002.02886."""

from unbraid.methods.adaptive_vae import AdaptiveVAE
from unbraid.objectives import average_posterior
from unbraid.types import Gaussian


class AdaGVAE(AdaptiveVAE):
    r"""β-VAE on pairs, whose posteriors are averaged in the dimensions that the two images are inferred to share.

    .. math:: L = ½ \sum_{i=1}^2 -E_{\tilde q(z|x_i)}[\log p(x_i|z)] + β KL(\tilde q(z|x_i) \| p(z))

    Here :math:`\tilde q(z_j|x_i)` has the mean of both means and the mean of both variances where
    :math:`δ_j = KL(q(z_j|x_1) \| q(z_j|x_2))` lies below the middle between the largest and the smallest of
    the pair, and is :math:`q(z_j|x_i)` elsewhere (Sec. 4). How many factors changed is not used.

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        beta: Weight of the KL divergence.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    @staticmethod
    def merged(q1: Gaussian, q2: Gaussian) -> Gaussian:
        return average_posterior(q1, q2)
