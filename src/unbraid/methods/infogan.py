"""InfoGAN. Chen et al., 2016, Interpretable Representation Learning by Information Maximizing Generative Adversarial
Nets, arXiv:1606.03657; as modified by Lin et al., 2020, InfoGAN-CR and ModelCentrality, arXiv:1906.06034."""

from torch import nn

from unbraid.methods.latent_gan import LatentGAN
from unbraid.objectives import Bernoulli, Likelihood
from unbraid.types import Batch, Terms


class InfoGAN(LatentGAN):
    r"""GAN that maximizes mutual information between code and image.

    .. math:: \min_{G, Q} \max_D V(D, G) - λ E[\log Q(c | G(c, n))] \quad \text{(Eq. 6 with the bound of Eq. 5)}

    The generator minimizes -log D(G(c, n)) instead of V. Q has a standard deviation of 1, so its term is half the
    squared error of its prediction.

    Args:
        generator: Network from codes and noise to observations, before the link function of the likelihood.
        discriminator: Network from observations to a logit and to Q's prediction of the code; include spectral
            normalization.
        code_dim: Number of dimensions that Q predicts: the strand `codes`.
        noise_dim: Number of further latent dimensions: the strand `noise`.
        lambda_info: Weight λ of Q's error, in the losses of generator and discriminator.
        updates_per_step: Number of generator updates per step, each with a new batch.
        likelihood: Link function of the output: bernoulli for images in [0, 1], normal for rows.
    """

    def __init__(
        self,
        generator: nn.Module,
        discriminator: nn.Module,
        *,
        code_dim: int = 5,  # sizes, weights and learning rates are those of InfoGAN-CR's authors for dSprites
        noise_dim: int = 5,
        lambda_info: float = 0.05,
        updates_per_step: int = 2,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(
            generator,
            discriminator,
            code_dim=code_dim,
            noise_dim=noise_dim,
            lambda_info=lambda_info,
            updates_per_step=updates_per_step,
            likelihood=likelihood,
        )

    def loss(self, batch: Batch) -> Terms:
        terms = self.generator_terms(batch)
        return Terms(terms["generator"] + self.lambda_info * terms["information"], terms)
