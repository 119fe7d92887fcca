"""VAE. Kingma & Welling, 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114."""

from torch import nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.objectives import Bernoulli, Likelihood, kl_to_standard_normal
from unbraid.types import Batch, Terms


class VAE(Autoencoder[Batch]):
    r"""The variational autoencoder: a bound on the likelihood.

    .. math:: L = KL(q(z|x) \| p(z)) - E_{q(z|x)}[\log p(x|z)] \quad \text{(Eq. 3, negated)}

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    def __init__(
        self, encoder: nn.Module, decoder: nn.Module, *, likelihood: Likelihood = Bernoulli()
    ) -> None:
        super().__init__(encoder, decoder, likelihood)

    def loss(self, batch: Batch) -> Terms:
        q = self.posterior(batch.x)
        nll = self.likelihood.nll(self.decoder(q.sample()), batch.x)
        kl = kl_to_standard_normal(q)
        return Terms(nll + kl, {"nll": nll, "kl": kl})
