"""MM-cVAE. Weinberger et al., 2022, Moment Matching Deep Contrastive Latent Variable Models, AISTATS,
arXiv:2202.10560."""

import torch
from torch import nn

from unbraid.methods.contrast import ContrastAutoencoder
from unbraid.objectives import Likelihood, Pixels, mmd
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import ContrastBatch, Terms

WIDTHS = tuple((10.0**power / 2) ** 0.5 for power in range(-6, 7))  # exp(-γ‖·‖²) with γ from 1e-6 to 1e6


class MMcVAE(ContrastAutoencoder):
    r"""Contrast VAE whose common codes are alike in both data sets and whose background's salient codes are zero, both
    as kernels see it.

    .. math:: L = L_{VAE} + λ_1 MMD(q_t(z), q_b(z)) + λ_2 MMD(q_b(s), δ_0)

    Args:
        encoder: Observations to the posterior q(z, s|x); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z, s).
        common: Dimensions of the common code z, which both data sets have.
        salient: Dimensions of the salient code s, which only the target has.
        match: The weight λ_1 of the discrepancy between the common codes of both.
        zero: The weight λ_2 of the discrepancy between the background's salient codes and zero.
        beta: The weight of the KL divergences.
        warm_up: A multiplier of that weight by step, such as linear:0:1:10000, so that codes carry something before
            they cost something.
        log_w2: Whether the distance between the common codes of both is logged; it is not minimised.
        layers: Not in the paper. The architecture of two decoders, such as mlp: what the common code shows, and over it
            what the salient code adds; one decoder of both when left out.
        likelihood: The family p(x|z, s): pixels:SIGMA, bernoulli, or normal:SIGMA for rows.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        common: int = 16,
        salient: int = 8,
        match: float = 1e4,  # both as in the authors' code
        zero: float = 1e3,
        beta: float = 1.0,
        warm_up: Schedule | None = None,
        log_w2: bool = False,
        layers: str = "",
        likelihood: Likelihood = Pixels(),
    ) -> None:
        sizes = {"common": common, "salient": salient}
        weight = {"beta": beta, "warm_up": warm_up}
        super().__init__(encoder, decoder, **sizes, **weight, likelihood=likelihood, log_w2=log_w2)
        require_nonnegative(match=match, zero=zero)
        self.match, self.zero = match, zero

    def loss(self, batch: ContrastBatch) -> Terms:
        evidence = self.evidence(batch)
        z_t, z_b = (self.strands.take(codes, "common") for codes in (evidence.c_x, evidence.c_y))
        s_b = self.strands.take(evidence.c_y, "salient")
        match, zero = mmd(z_t, z_b, WIDTHS), mmd(s_b, torch.zeros_like(s_b), WIDTHS)
        total = evidence.bound(self.kl_weight) + self.match * match + self.zero * zero
        return Terms(total, evidence.parts | {"match": match, "zero_salient": zero} | self.watched(evidence))
