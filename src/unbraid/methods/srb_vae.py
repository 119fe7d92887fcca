"""sRb-VAE. Ruiz et al., 2019, Learning Disentangled Representations with Reference-Based Variational Autoencoders,
arXiv:1901.08534, Sec. 4; there the target's factors are e, here s, and the reference images are the background."""

from collections.abc import Mapping, Set
from typing import Any, Unpack

import torch
from torch import nn

from unbraid.distributed import noise_like
from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.contrast_autoencoder import (
    ContrastAutoencoder,
    LoggedContrastOptions,
    with_shared_options,
)
from unbraid.nn import JointCritic, frozen_batch_stats
from unbraid.objectives import code_nll, critic_cross_entropy, log_density_ratio
from unbraid.optimizers import Adam
from unbraid.settings import require_nonnegative
from unbraid.types import Codes, ContrastBatch, Terms


@with_shared_options
class SRbVAE(ContrastAutoencoder):
    r"""Rb-VAE that also minimizes the reverse divergences, from the model to the encoder.

    .. math:: L = KL(q(x, z, s) \| p(x, z, s)) + KL(q(y, z) \| p(y, z))
              + ρ (KL(p(x, z, s) \| q(x, z, s)) + KL(p(y, z) \| q(y, z)))

    The first line is the loss of the Rb-VAE up to a constant. In the second line, -log q of the codes that images were
    generated from trains the encoder, and two critics train the decoder: one distinguishes (x, z, s) of the encoder
    from (x, z, s) of the model, the other does so for (y, z).

    Args:
        encoder: Network from observations to the posterior q(z, s|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z, s).
        critic: Network from target observations and codes to two logits, the first for codes of the encoder.
        background_critic: Network from background observations and common codes to the same two logits.
        lambda_reverse_kl: Weight ρ of the reverse divergences; 0 is the Rb-VAE.
        beta: Weight of the KL divergences to the prior.
    """

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments = super().default_arguments(spec, missing - {"critic", "background_critic"}, settings)
        common, salient = (cls.option(settings, name) for name in ("common_dim", "salient_dim"))
        sizes = {"critic": common + salient, "background_critic": common}
        critics = {name: JointCritic(spec.shape, size) for name, size in sizes.items() if name in missing}
        return arguments | critics

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        critic: nn.Module,
        background_critic: nn.Module,
        *,
        lambda_reverse_kl: float = 1.0,
        beta: float = 1.0,
        **options: Unpack[LoggedContrastOptions],
    ) -> None:
        super().__init__(encoder, decoder, beta=beta, **options)
        require_nonnegative(lambda_reverse_kl=lambda_reverse_kl)
        self.critic, self.background_critic = critic, background_critic
        self.lambda_reverse_kl = lambda_reverse_kl
        self.s_r = nn.Parameter(torch.zeros(len(self.strands["salient"])))

    def background_codes(self, codes: Codes) -> Codes:
        return self.strands.set(codes, "salient", self.s_r)

    def loss(self, batch: ContrastBatch) -> Terms:
        elbo = self.elbo_terms(batch)
        c_x, c_y = noise_like(elbo.c_x), noise_like(elbo.c_y)
        # Generated images are means, without the noise of the likelihood, as in the authors' code.
        with frozen_batch_stats(self.encoder, self.decoder):
            x, y = self.apply_to_both(self.decode, c_x, self.background_codes(c_y))
            q_x, q_y = self.posteriors(x.detach(), y.detach())
        z_y = self.strands.take(c_y, "common")
        logits = self.critic(x, c_x).to(c_x.dtype), self.background_critic(y, z_y).to(c_x.dtype)
        ratio = -sum(map(log_density_ratio, logits))  # E_p[log p - log q], of target and background
        recovered = code_nll(q_x, c_x) + code_nll(self.strand_posterior(q_y, "common"), z_y)
        total = elbo.bound(self.kl_weight) + self.lambda_reverse_kl * (ratio + recovered)
        return Terms(total, elbo.by_name | {"ratio": ratio, "codes": recovered} | self.extra_logs(elbo))

    def critic_loss(self, batch: ContrastBatch) -> Terms:
        """The loss of both critics; no gradient reaches encoder or decoder."""
        with torch.no_grad(), frozen_batch_stats(self.encoder, self.decoder):
            q_x, q_y = self.posteriors(batch.target, batch.background)
            c_x, c_y = q_x.sample(), q_y.sample()
            from_x, from_y = noise_like(c_x), noise_like(c_y)
            x, y = self.apply_to_both(self.decode, from_x, self.background_codes(from_y))
            z_y, from_z = (self.strands.take(codes, "common") for codes in (c_y, from_y))
        target = self.critic(torch.cat([batch.target, x]), torch.cat([c_x, from_x])).to(x.dtype)
        background = self.background_critic(torch.cat([batch.background, y]), torch.cat([z_y, from_z]))
        errors = [critic_cross_entropy(*logits.to(x.dtype).chunk(2)) for logits in (target, background)]
        return Terms(errors[0] + errors[1], {"target": errors[0], "background": errors[1]})

    def players(self) -> tuple[Player, ...]:
        autoencoder = [*self.encoder.parameters(), *self.decoder.parameters(), self.s_r]
        critics = [*self.critic.parameters(), *self.background_critic.parameters()]
        return (
            Player("autoencoder", autoencoder, self.loss),
            Player("critics", critics, self.critic_loss, Adam(lr=1e-4, beta1=0.5)),
        )
