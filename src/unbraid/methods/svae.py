"""sVAE, the symmetric VAE. Chen et al., 2018, Symmetric Variational Autoencoder and Connections to Adversarial
Learning, arXiv:1709.01846; Pu et al., 2017, Adversarial Symmetric Variational Autoencoder, arXiv:1711.04915."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import nn

from unbraid.distributed import noise_like
from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import BuildSpec, Player
from unbraid.nn import JointCritic, frozen_batch_stats
from unbraid.objectives import (
    Likelihood,
    Pixels,
    code_nll,
    critic_cross_entropy,
    kl_to_standard_normal,
    log_density_ratio,
)
from unbraid.optimizers import Adam
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Terms


class SVAE(Autoencoder[Batch]):
    r"""VAE that also minimizes the reverse divergence, from the model to the encoder.

    .. math:: L = KL(q(x, z) \| p(x, z)) + ρ KL(p(x, z) \| q(x, z))

    The first term is the loss of the VAE up to a constant. In the second term, -log q(z|x) of the codes that images
    were generated from trains the encoder, and a critic D, which distinguishes (x, z) of the encoder from (x, z) of the
    model, trains the decoder.

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        critic: Network from observations and codes to two logits, the first for codes of the encoder.
        lambda_reverse_kl: Weight ρ of the reverse divergence; 0 is the VAE.
        beta: Weight of the KL divergence to the prior.
        likelihood: Likelihood p(x|z): pixels:SIGMA, bernoulli, or normal:SIGMA for rows.
    """

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments = super().default_arguments(spec, missing - {"critic"}, settings)
        if "critic" in missing:
            latent_dim = spec.latent_dim_with(settings)
            arguments["critic"] = JointCritic(spec.shape, latent_dim)
        return arguments

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        critic: nn.Module,
        *,
        lambda_reverse_kl: float = 1.0,
        beta: float = 1.0,
        likelihood: Likelihood = Pixels(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(lambda_reverse_kl=lambda_reverse_kl, beta=beta)
        self.critic, self.lambda_reverse_kl, self.beta = critic, lambda_reverse_kl, beta

    def loss(self, batch: Batch) -> Terms:
        q = self.posterior(batch.x)
        z = q.sample()
        z_prior = noise_like(z)
        nll, kl = self.likelihood.nll(self.decode_parameters(z), batch.x), kl_to_standard_normal(q)
        with frozen_batch_stats(self.encoder, self.decoder):
            x = self.decode(z_prior)  # without the noise of the likelihood, as in the authors' code
            q_generated = self.posterior(x.detach())
        ratio = -log_density_ratio(self.critic(x, z_prior).to(z.dtype))  # E_p[log p(x, z) - log q(x, z)]
        recovered = code_nll(q_generated, z_prior)
        total = nll + self.beta * kl + self.lambda_reverse_kl * (ratio + recovered)
        return Terms(total, {"nll": nll, "kl": kl, "ratio": ratio, "codes": recovered})

    def critic_loss(self, batch: Batch) -> Terms:
        """The loss of the critic; no gradient reaches encoder or decoder."""
        with torch.no_grad(), frozen_batch_stats(self.encoder, self.decoder):
            z = self.posterior(batch.x).sample()
            z_prior = noise_like(z)
            generated = self.decode(z_prior)
        logits = self.critic(torch.cat([batch.x, generated]), torch.cat([z, z_prior])).to(z.dtype)
        return Terms(critic_cross_entropy(*logits.chunk(2)), {})

    def players(self) -> tuple[Player, ...]:
        autoencoder = [*self.encoder.parameters(), *self.decoder.parameters()]
        return (
            Player("autoencoder", autoencoder, self.loss),
            Player("critic", self.critic.parameters(), self.critic_loss, Adam(lr=1e-4, beta1=0.5)),
        )
