"""cVAE. Abid & Zou, 2019, Contrastive Variational Autoencoder Enhances Salient Features, arXiv:1902.04601."""

from collections.abc import Mapping, Set
from typing import Any, Unpack

import torch
from torch import nn

from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.contrast_autoencoder import (
    ContrastAutoencoder,
    LoggedContrastOptions,
    with_shared_options,
)
from unbraid.nn import Critic, frozen_batch_stats
from unbraid.objectives import critic_cross_entropy, log_density_ratio
from unbraid.optimizers import Adam
from unbraid.settings import require_nonnegative
from unbraid.types import Codes, ContrastBatch, Scalar, Terms


@with_shared_options
class CVAE(ContrastAutoencoder):
    r"""Contrast VAE with independent strands: a critic D that distinguishes codes of the target from codes with the
    salient strand of another image estimates their total correlation.

    .. math:: L = L_{VAE} + γ KL(q(z, s) \| q(z) q(s)), \quad
              KL ≈ E_{q(z, s)} \log (D(z, s) / (1 - D(z, s)))

    Args:
        encoder: Network from observations to the posterior q(z, s|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z, s).
        critic: Network from codes to two logits, the first for original codes, the second for mixed codes.
        gamma: Weight of the total correlation between the strands; 0 is the contrast VAE.
        beta: Weight of the KL divergences.
        joint: Whether to train as the authors' code does: the critic is one linear layer, and all weights minimize the
            sum of all terms, the critic's error included. A linear critic cannot separate codes from mixed codes,
            because mixing keeps the means.
    """

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments = super().default_arguments(spec, missing - {"critic"}, settings)
        if "critic" in missing:
            latent_dim = cls.option(settings, "common_dim") + cls.option(settings, "salient_dim")
            arguments["critic"] = (
                Critic(latent_dim, layers=0) if settings.get("joint") else Critic(latent_dim)
            )
        return arguments

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        critic: nn.Module,
        *,
        gamma: float = 1.0,  # the authors' code; the paper leaves it open
        beta: float = 1.0,
        joint: bool = False,
        **options: Unpack[LoggedContrastOptions],
    ) -> None:
        super().__init__(encoder, decoder, beta=beta, **options)
        require_nonnegative(gamma=gamma)
        self.critic, self.gamma, self.joint = critic, gamma, joint

    def loss(self, batch: ContrastBatch) -> Terms:
        elbo = self.elbo_terms(batch)
        tc = log_density_ratio(self.critic(elbo.c_x).to(elbo.c_x.dtype))
        total = elbo.bound(self.kl_weight) + self.gamma * tc
        terms = elbo.by_name | {"tc": tc} | self.extra_logs(elbo)
        if not self.joint:
            return Terms(total, terms, cached=(elbo.c_x.detach(),))
        error = self.error(elbo.c_x)
        return Terms(total + error, terms | {"critic": error})

    def error(self, codes: Codes) -> Scalar:
        """The critic's cross-entropy between codes and codes with the salient strand of another image."""
        mixed = self.strands.shuffle(codes, "salient")
        return critic_cross_entropy(*self.critic(torch.cat([codes, mixed])).to(codes.dtype).chunk(2))

    def critic_loss(self, batch: ContrastBatch, codes: Codes | None = None) -> Terms:
        """The loss of the critic; no gradient reaches the encoder.

        Args:
            batch: Target and background.
            codes: Codes of the target that the autoencoder's update used; encoded again if left out.
        """
        if codes is None:
            with torch.no_grad(), frozen_batch_stats(self.encoder):
                codes = self.posteriors(batch.target, batch.background)[0].sample()
        return Terms(self.error(codes), {})

    def players(self) -> tuple[Player, ...]:
        if self.joint:
            return (Player("model", self.parameters(), self.loss),)
        autoencoder = [*self.encoder.parameters(), *self.decoder.parameters()]
        adam = Adam(lr=1e-4, beta1=0.5, beta2=0.9)  # of FactorVAE's critic; the paper gives none
        return (
            Player("autoencoder", autoencoder, self.loss),
            Player("critic", self.critic.parameters(), self.critic_loss, adam, reuses="autoencoder"),
        )
