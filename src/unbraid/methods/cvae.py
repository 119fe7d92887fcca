"""cVAE. Abid & Zou, 2019, Contrastive Variational Autoencoder Enhances Salient Features, arXiv:1902.04601."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import nn

from unbraid.methods.base import Facts, Player
from unbraid.methods.contrast import ContrastAutoencoder
from unbraid.nn import Critic
from unbraid.nn.batch_norm import keeping_statistics
from unbraid.objectives import Likelihood, Pixels, critic_cross_entropy, log_density_ratio
from unbraid.optimisers import Adam
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import Codes, ContrastBatch, Scalar, Terms


class CVAE(ContrastAutoencoder):
    r"""Contrast VAE whose strands are made independent, which a critic D measures by telling codes of the target
    from codes with the salient strand of another image.

    .. math:: L = L_{VAE} + γ KL(q(z, s) \| q(z) q(s)), \quad
              KL ≈ E_{q(z, s)} \log (D(z, s) / (1 - D(z, s)))

    Args:
        encoder: Observations to the posterior q(z, s|x); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z, s).
        critic: Codes to two logits, the first for codes as they are, the second for mixed ones.
        common: Dimensions of the common code z, which both data sets have.
        salient: Dimensions of the salient code s, which only the target has.
        gamma: The weight of the total correlation between the strands; 0 is the contrast VAE.
        beta: The weight of the KL divergences.
        warm_up: A multiplier of that weight by step, such as linear:0:1:10000, so that codes carry something before
            they cost something.
        joint: As in the authors' code: the critic is one linear layer, and all weights minimise the sum of all
            terms, its error among them. A linear critic tells nothing apart here, since mixing keeps the means.
        log_w2: Whether the distance between the common codes of both is logged; it is not minimised.
        layers: Not in the paper. The architecture of two decoders, such as mlp: what the common code shows, and over it
            what the salient code adds; one decoder of both when left out.
        likelihood: The family p(x|z, s): pixels:SIGMA, bernoulli, or normal:SIGMA for rows.
    """

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts = super().parts(facts, wanted - {"critic"}, settings)
        if "critic" in wanted:
            codes = cls.setting(settings, "common") + cls.setting(settings, "salient")
            parts["critic"] = Critic(codes, layers=0) if settings.get("joint") else Critic(codes)
        return parts

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        critic: nn.Module,
        *,
        common: int = 16,
        salient: int = 8,
        gamma: float = 1.0,  # the authors' code; the paper leaves it open
        beta: float = 1.0,
        warm_up: Schedule | None = None,
        joint: bool = False,
        log_w2: bool = False,
        layers: str = "",
        likelihood: Likelihood = Pixels(),
    ) -> None:
        sizes = {"common": common, "salient": salient}
        weight = {"beta": beta, "warm_up": warm_up}
        super().__init__(encoder, decoder, **sizes, **weight, likelihood=likelihood, log_w2=log_w2)
        require_nonnegative(gamma=gamma)
        self.critic, self.gamma, self.joint = critic, gamma, joint

    def loss(self, batch: ContrastBatch) -> Terms:
        evidence = self.evidence(batch)
        tc = log_density_ratio(self.critic(evidence.c_x).to(evidence.c_x.dtype))
        total, parts = (
            evidence.bound(self.kl_weight) + self.gamma * tc,
            evidence.parts | {"tc": tc} | self.watched(evidence),
        )
        if not self.joint:
            return Terms(total, parts, kept=(evidence.c_x.detach(),))
        error = self.error(evidence.c_x)
        return Terms(total + error, parts | {"critic": error})

    def error(self, codes: Codes) -> Scalar:
        """How badly the critic tells codes from those with another image's salient strand."""
        mixed = self.strands.shuffle(codes, "salient")
        return critic_cross_entropy(*self.critic(torch.cat([codes, mixed])).to(codes.dtype).chunk(2))

    def critic_loss(self, batch: ContrastBatch, codes: Codes | None = None) -> Terms:
        """What the critic minimises; no gradient reaches the encoder.

        Codes of the target may be given: those that the autoencoder learned from.
        """
        if codes is None:
            with torch.no_grad(), keeping_statistics(self.encoder):
                codes = self.posteriors(batch.target, batch.background)[0].sample()
        return Terms(self.error(codes), {})

    def players(self) -> tuple[Player, ...]:
        if self.joint:
            return (Player("model", self.parameters(), self.loss),)
        autoencoder = [*self.encoder.parameters(), *self.decoder.parameters()]
        adam = Adam(
            rate=1e-4, beta1=0.5, beta2=0.9
        )  # FactorVAE's critic; there is none of its own in the paper
        return (
            Player("autoencoder", autoencoder, self.loss),
            Player("critic", self.critic.parameters(), self.critic_loss, adam, takes="autoencoder"),
        )
