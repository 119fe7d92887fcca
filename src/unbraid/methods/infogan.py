"""InfoGAN. Chen et al., 2016, Interpretable Representation Learning by Information Maximizing Generative Adversarial
Nets, arXiv:1606.03657; as modified by Lin et al., 2020, InfoGAN-CR and ModelCentrality, arXiv:1906.06034."""

from torch import nn

from unbraid.methods.latent_gan import LatentGAN
from unbraid.objectives import Bernoulli, Likelihood
from unbraid.types import Batch, Terms


class InfoGAN(LatentGAN):
    r"""GAN whose images tell the codes that they were made from.

    .. math:: \min_{G, Q} \max_D V(D, G) - λ E[\log Q(c | G(c, n))] \quad \text{(Eq. 6 with the bound of Eq. 5)}

    The generator minimises -log D(G(c, n)) in the place of V. Q has a spread of 1, so that its part is half the squared
    error of its guess.

    Args:
        generator: Codes and noise to observations, before the likelihood's link.
        discriminator: Observations to a logit and to a guess of the codes; it must be spectrally normalised itself.
        code: How many codes Q guesses: the strand `codes`.
        noise: How many further latents nothing is asked of: the strand `noise`.
        information: The weight λ of Q's error, in the losses of both sides.
        updates: How often the generator moves in a step, each time on a fresh batch.
        likelihood: Gives the link alone: bernoulli for images in [0, 1], normal for any rows.
    """

    def __init__(
        self,
        generator: nn.Module,
        discriminator: nn.Module,
        *,
        code: int = 5,  # sizes, weights and rates are those of InfoGAN-CR's authors for dSprites
        noise: int = 5,
        information: float = 0.05,
        updates: int = 2,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(
            generator,
            discriminator,
            code=code,
            noise=noise,
            information=information,
            updates=updates,
            likelihood=likelihood,
        )

    def loss(self, batch: Batch) -> Terms:
        parts = self.generator_terms(batch)
        return Terms(parts["generator"] + self.information * parts["information"], parts)
