"""FactorVAE. Kim & Mnih, 2018, Disentangling by Factorising, arXiv:1802.05983."""

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
from unbraid.optimisers import Adam
from unbraid.settings import require_nonnegative
from unbraid.strands import feature_strands
from unbraid.types import Batch, Codes, Terms


class FactorVAE(Autoencoder[Batch]):
    r"""VAE with a weighted total correlation, which a critic D estimates by telling codes from shuffled codes.

    .. math:: L = -E_{q(z|x)}[\log p(x|z)] + KL(q(z|x) \| p(z)) + γ E_{q(z)}[\log (D(z) / (1 - D(z)))]
              \quad \text{(Eqs. 2 and 3, negated)}

    The critic learns from two batches (Algorithm 2): codes of the first as they are, codes of the second with
    each dimension, or each strand of several, shuffled over the batch.

    Args:
        encoder: Observations to the posterior q(z|x); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z).
        critic: Codes to two logits, the first for codes as they are, the second for shuffled ones.
        gamma: The weight of the total correlation; 0 is the VAE.
        beta: The weight of the KL divergence; the paper has 1.
        dimensions: How many codes make a strand, which is shuffled whole: the total correlation is then between
            strands. 1 in the paper.
        likelihood: The family p(x|z): bernoulli, or normal:SIGMA.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        critic: nn.Module,
        *,
        gamma: float = 10.0,  # the least of Locatello et al., 2019; the paper has several, by dataset
        beta: float = 1.0,
        dimensions: int = 1,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(gamma=gamma, beta=beta)
        self.critic, self.gamma, self.beta = critic, gamma, beta
        codes = self.strands.size
        if dimensions < 1 or codes % dimensions or (dimensions > 1 and codes == dimensions):
            raise ValueError(
                f"A code of {codes} is cut into at least two strands of equal size; got dimensions={dimensions}."
            )
        self._strands = feature_strands(codes // dimensions, dimensions)
        self.blocks = tuple(self._strands)[1:]  # the strands, where they have several dimensions

    def loss(self, batch: Batch) -> Terms:
        q = self.posterior(batch.x)
        z = q.sample()
        nll = self.likelihood.nll(self.decoder(z), batch.x)
        kl = kl_to_standard_normal(q)
        tc = log_density_ratio(self.critic(z).to(z.dtype))
        total = nll + self.beta * kl + self.gamma * tc
        return Terms(total, {"nll": nll, "kl": kl, "tc": tc}, kept=(z.detach(),))

    def critic_loss(self, batch: Batch, other: Batch, z: Codes | None = None) -> Terms:
        """What the critic minimises; no gradient reaches the encoder.

        Codes of the first batch may be given: in Algorithm 2 they are those that the autoencoder learned from.
        """
        with torch.no_grad():
            if z is None:
                z = self.posterior(batch.x).sample()
            strands = self.blocks or range(self.strands.size)
            shuffled = self.strands.shuffle(self.posterior(other.x).sample(), *strands)
        logits = self.critic(torch.cat([z, shuffled])).to(z.dtype)
        error = critic_cross_entropy(*logits.chunk(2))
        return Terms(error, {})

    def players(self) -> tuple[Player, ...]:
        autoencoder = [*self.encoder.parameters(), *self.decoder.parameters()]
        critic, adam = self.critic.parameters(), Adam(rate=1e-4, beta1=0.5, beta2=0.9)  # App. A
        return (
            Player("autoencoder", autoencoder, self.loss),
            Player("critic", critic, self.critic_loss, adam, batches=2, takes="autoencoder"),
        )
