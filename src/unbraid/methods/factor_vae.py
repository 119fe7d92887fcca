"""FactorVAE. Kim & Mnih, 2018, Disentangling by Factorizing, arXiv:1802.05983."""

import torch
from torch import nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import Player
from unbraid.objectives import (
    Bernoulli,
    Likelihood,
    critic_cross_entropy,
    kl_to_standard_normal,
    log_density_ratio,
)
from unbraid.optimizers import Adam
from unbraid.settings import require_nonnegative
from unbraid.strands import feature_strands
from unbraid.types import Batch, Codes, Terms


class FactorVAE(Autoencoder[Batch]):
    r"""VAE with a weighted total correlation, estimated by a critic D that classifies codes and shuffled codes.

    .. math:: L = -E_{q(z|x)}[\log p(x|z)] + KL(q(z|x) \| p(z)) + γ E_{q(z)}[\log (D(z) / (1 - D(z)))]
              \quad \text{(Eqs. 2 and 3, negated)}

    The critic is trained on two batches (Algorithm 2): codes of the first, and codes of the second with each dimension,
    or each strand of several dimensions, shuffled over the batch.

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        critic: Network from codes to two logits: unshuffled and shuffled.
        gamma: Weight γ of the total correlation; 0 is the VAE.
        beta: Weight of the KL divergence; 1 in the paper.
        feature_dim: Number of dimensions per strand. Above 1, strands are shuffled as units, and the total
            correlation is between strands. 1 in the paper.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        critic: nn.Module,
        *,
        gamma: float = 10.0,  # the smallest of Locatello et al., 2019; the paper has several, by dataset
        beta: float = 1.0,
        feature_dim: int = 1,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(gamma=gamma, beta=beta)
        self.critic, self.gamma, self.beta = critic, gamma, beta
        latent_dim = self.strands.size
        if feature_dim < 1 or latent_dim % feature_dim or (feature_dim > 1 and latent_dim == feature_dim):
            raise ValueError(
                f"feature_dim must divide the {latent_dim} dimensions of the code into at least two strands; got "
                f"{feature_dim}."
            )
        self._strands = feature_strands(latent_dim // feature_dim, feature_dim)
        self.feature_strands = tuple(self._strands)[1:]  # none where strands have one dimension

    def loss(self, batch: Batch) -> Terms:
        q = self.posterior(batch.x)
        z = q.sample()
        nll = self.likelihood.nll(self.decoder(z), batch.x)
        kl = kl_to_standard_normal(q)
        tc = log_density_ratio(self.critic(z).to(z.dtype))
        total = nll + self.beta * kl + self.gamma * tc
        return Terms(total, {"nll": nll, "kl": kl, "tc": tc}, cached=(z.detach(),))

    def critic_loss(self, batch: Batch, other: Batch, z: Codes | None = None) -> Terms:
        """The loss of the critic, without gradient to the encoder.

        Codes of the first batch may be passed: in Algorithm 2 they are those of the autoencoder's update.
        """
        with torch.no_grad():
            if z is None:
                z = self.posterior(batch.x).sample()
            strands = self.feature_strands or range(self.strands.size)
            shuffled = self.strands.shuffle(self.posterior(other.x).sample(), *strands)
        logits = self.critic(torch.cat([z, shuffled])).to(z.dtype)
        error = critic_cross_entropy(*logits.chunk(2))
        return Terms(error, {})

    def players(self) -> tuple[Player, ...]:
        autoencoder = [*self.encoder.parameters(), *self.decoder.parameters()]
        critic, adam = self.critic.parameters(), Adam(lr=1e-4, beta1=0.5, beta2=0.9)  # App. A
        return (
            Player("autoencoder", autoencoder, self.loss),
            Player("critic", critic, self.critic_loss, adam, batches_per_update=2, reuses="autoencoder"),
        )
