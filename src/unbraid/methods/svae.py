"""sVAE, the symmetric VAE. Chen et al., 2018, Symmetric Variational Autoencoder and Connections to Adversarial
Learning, arXiv:1709.01846; Pu et al., 2017, Adversarial Symmetric Variational Autoencoder, arXiv:1711.04915."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import nn

from unbraid.distributed import noise_like
from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import Facts, Player
from unbraid.nn import JointCritic
from unbraid.nn.batch_norm import keeping_statistics
from unbraid.objectives import (
    Likelihood,
    Pixels,
    code_nll,
    critic_cross_entropy,
    kl_to_standard_normal,
    log_density_ratio,
)
from unbraid.optimisers import Adam
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Terms


class SVAE(Autoencoder[Batch]):
    r"""VAE that also minimises the divergence the other way round, from the model to the encoder.

    .. math:: L = KL(q(x, z) \| p(x, z)) + ρ KL(p(x, z) \| q(x, z))

    The first is the VAE's loss and a constant. Of the second, -log q(z|x) of codes that images were made from moves
    the encoder, and a critic D, which tells (x, z) of the encoder from (x, z) of the model, moves the decoder.

    Args:
        encoder: Observations to the posterior q(z|x); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z).
        critic: Observations and codes to two logits, the first for those of the encoder.
        reverse: The weight ρ of the second divergence; 0 is the VAE.
        beta: The weight of the KL divergence to the prior.
        likelihood: The family p(x|z): pixels:SIGMA, bernoulli, or normal:SIGMA for rows.
    """

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts = super().parts(facts, wanted - {"critic"}, settings)
        if "critic" in wanted:
            codes = getattr(settings.get("encoder"), "codes", facts.codes)
            parts["critic"] = JointCritic(facts.shape, codes)
        return parts

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        critic: nn.Module,
        *,
        reverse: float = 1.0,
        beta: float = 1.0,
        likelihood: Likelihood = Pixels(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(reverse=reverse, beta=beta)
        self.critic, self.reverse, self.beta = critic, reverse, beta

    def loss(self, batch: Batch) -> Terms:
        q = self.posterior(batch.x)
        z = q.sample()
        made_from = noise_like(z)
        nll, kl = self.likelihood.nll(self.decoded(z), batch.x), kl_to_standard_normal(q)
        with keeping_statistics(self.encoder, self.decoder):
            x = self.decode(made_from)  # without the likelihood's noise, as the authors have it
            q_made = self.posterior(x.detach())
        ratio = -log_density_ratio(self.critic(x, made_from).to(z.dtype))  # E_p[log p(x, z) - log q(x, z)]
        found = code_nll(q_made, made_from)
        total = nll + self.beta * kl + self.reverse * (ratio + found)
        return Terms(total, {"nll": nll, "kl": kl, "ratio": ratio, "codes": found})

    def critic_loss(self, batch: Batch) -> Terms:
        """What the critic minimises; no gradient reaches encoder or decoder."""
        with torch.no_grad(), keeping_statistics(self.encoder, self.decoder):
            z = self.posterior(batch.x).sample()
            made_from = noise_like(z)
            made = self.decode(made_from)
        logits = self.critic(torch.cat([batch.x, made]), torch.cat([z, made_from])).to(z.dtype)
        return Terms(critic_cross_entropy(*logits.chunk(2)), {})

    def players(self) -> tuple[Player, ...]:
        autoencoder = [*self.encoder.parameters(), *self.decoder.parameters()]
        return (
            Player("autoencoder", autoencoder, self.loss),
            Player("critic", self.critic.parameters(), self.critic_loss, Adam(rate=1e-4, beta1=0.5)),
        )
