"""β-VAE. Higgins et al., 2017, β-VAE: Learning Basic Visual Concepts with a Constrained Variational Framework,
ICLR."""

from torch import nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.objectives import Bernoulli, Likelihood, kl_to_standard_normal
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Terms


class BetaVAE(Autoencoder[Batch]):
    r"""VAE in which the KL divergence is weighted.

    .. math:: L = -E_{q(z|x)}[\log p(x|z)] + β KL(q(z|x) \| p(z)) \quad \text{(Eq. 4, negated)}

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        beta: Weight of the KL divergence; 1 is the VAE.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        beta: float = 4.0,  # the paper's on dSprites
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(beta=beta)
        self.beta = beta

    def loss(self, batch: Batch) -> Terms:
        q = self.posterior(batch.x)
        nll = self.likelihood.nll(self.decoder(q.sample()), batch.x)
        kl = kl_to_standard_normal(q)
        return Terms(nll + self.beta * kl, {"nll": nll, "kl": kl})
