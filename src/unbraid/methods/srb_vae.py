"""sRb-VAE. Ruiz et al., 2019, Learning Disentangled Representations with Reference-Based Variational Autoencoders,
arXiv:1901.08534, Sec. 4; there the target's factors are e, here s, and the reference images are the background."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import nn

from unbraid.distributed import noise_like
from unbraid.methods.base import Facts, Player
from unbraid.methods.contrast import ContrastAutoencoder
from unbraid.nn import JointCritic
from unbraid.nn.batch_norm import keeping_statistics
from unbraid.objectives import Likelihood, Pixels, code_nll, critic_cross_entropy, log_density_ratio
from unbraid.optimisers import Adam
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import Codes, ContrastBatch, Terms


class SRbVAE(ContrastAutoencoder):
    r"""Rb-VAE that also minimises the divergences the other way round, from the model to the encoder.

    .. math:: L = KL(q(x, z, s) \| p(x, z, s)) + KL(q(y, z) \| p(y, z))
              + ρ (KL(p(x, z, s) \| q(x, z, s)) + KL(p(y, z) \| q(y, z)))

    The first line is the loss of the Rb-VAE and a constant. Of the second, -log q of codes that images were made from
    moves the encoder, and two critics move the decoder: one tells (x, z, s) of the encoder from those of the model,
    the other (y, z).

    Args:
        encoder: Observations to the posterior q(z, s|x); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z, s).
        critic: Target observations and codes to two logits, the first for those of the encoder.
        background_critic: The same of background observations and common codes.
        common: Dimensions of the common code z, which both data sets have.
        salient: Dimensions of the salient code s, which only the target has.
        reverse: The weight ρ of the reverse divergences; 0 is the Rb-VAE.
        beta: The weight of the KL divergences to the prior.
        warm_up: A multiplier of that weight by step, such as linear:0:1:10000, so that codes carry something before
            they cost something.
        log_w2: Whether the distance between the common codes of both is logged; it is not minimised.
        layers: Not in the paper. The architecture of two decoders, such as mlp: what the common code shows, and over it
            what the salient code adds; one decoder of both when left out.
        likelihood: The family p(x|z, s): pixels:SIGMA, bernoulli, or normal:SIGMA for rows.
    """

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts = super().parts(facts, wanted - {"critic", "background_critic"}, settings)
        common, salient = (cls.setting(settings, strand) for strand in ("common", "salient"))
        seen = {"critic": common + salient, "background_critic": common}
        for name, codes in seen.items():
            if name in wanted:
                parts[name] = JointCritic(facts.shape, codes)
        return parts

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        critic: nn.Module,
        background_critic: nn.Module,
        *,
        common: int = 16,
        salient: int = 8,
        reverse: float = 1.0,
        beta: float = 1.0,
        warm_up: Schedule | None = None,
        log_w2: bool = False,
        layers: str = "",
        likelihood: Likelihood = Pixels(),
    ) -> None:
        sizes = {"common": common, "salient": salient}
        weight = {"beta": beta, "warm_up": warm_up}
        super().__init__(encoder, decoder, **sizes, **weight, likelihood=likelihood, log_w2=log_w2)
        require_nonnegative(reverse=reverse)
        self.critic, self.background_critic = critic, background_critic
        self.reverse = reverse
        self.s_r = nn.Parameter(torch.zeros(salient))

    def reference(self, codes: Codes) -> Codes:
        return self.strands.set(codes, "salient", self.s_r)

    def loss(self, batch: ContrastBatch) -> Terms:
        evidence = self.evidence(batch)
        c_x, c_y = noise_like(evidence.c_x), noise_like(evidence.c_y)
        # Made images are means, without the likelihood's noise, as the authors have it.
        with keeping_statistics(self.encoder, self.decoder):
            x, y = self.decode(torch.cat([c_x, self.reference(c_y)])).chunk(2)
            q_x, q_y = self.posteriors(x.detach(), y.detach())
        z_y = self.strands.take(c_y, "common")
        logits = self.critic(x, c_x).to(c_x.dtype), self.background_critic(y, z_y).to(c_x.dtype)
        ratio = -sum(map(log_density_ratio, logits))  # E_p[log p - log q], of target and background
        found = code_nll(q_x, c_x) + code_nll(self.part(q_y, "common"), z_y)
        total = evidence.bound(self.kl_weight) + self.reverse * (ratio + found)
        return Terms(total, evidence.parts | {"ratio": ratio, "codes": found} | self.watched(evidence))

    def critic_loss(self, batch: ContrastBatch) -> Terms:
        """What the critics minimise; no gradient reaches encoder or decoder."""
        with torch.no_grad(), keeping_statistics(self.encoder, self.decoder):
            q_x, q_y = self.posteriors(batch.target, batch.background)
            c_x, c_y = q_x.sample(), q_y.sample()
            from_x, from_y = noise_like(c_x), noise_like(c_y)
            x, y = self.decode(torch.cat([from_x, self.reference(from_y)])).chunk(2)
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
            Player("critics", critics, self.critic_loss, Adam(rate=1e-4, beta1=0.5)),
        )
