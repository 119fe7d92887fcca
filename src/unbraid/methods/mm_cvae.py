"""MM-cVAE. Weinberger et al., 2022, Moment Matching Deep Contrastive Latent Variable Models, AISTATS,
arXiv:2202.10560."""

from typing import Unpack

import torch
from torch import nn

from unbraid.methods.contrast_autoencoder import (
    ContrastAutoencoder,
    LoggedContrastOptions,
    with_shared_options,
)
from unbraid.objectives import mmd
from unbraid.settings import require_nonnegative
from unbraid.types import ContrastBatch, Terms

WIDTHS = tuple((10.0**power / 2) ** 0.5 for power in range(-6, 7))  # exp(-γ‖·‖²) with γ from 1e-6 to 1e6


@with_shared_options
class MMcVAE(ContrastAutoencoder):
    r"""Contrast VAE that matches moments (MMD): the common codes of both datasets have one distribution, and the
    salient codes of the background are zero.

    .. math:: L = L_{VAE} + λ_1 MMD(q_t(z), q_b(z)) + λ_2 MMD(q_b(s), δ_0)

    Args:
        encoder: Network from observations to the posterior q(z, s|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z, s).
        lambda_match: Weight λ_1 of the discrepancy between the common codes of target and background.
        lambda_zero: Weight λ_2 of the discrepancy between the background's salient codes and zero.
        beta: Weight of the KL divergences.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        lambda_match: float = 1e4,  # both as in the authors' code
        lambda_zero: float = 1e3,
        beta: float = 1.0,
        **options: Unpack[LoggedContrastOptions],
    ) -> None:
        super().__init__(encoder, decoder, beta=beta, **options)
        require_nonnegative(lambda_match=lambda_match, lambda_zero=lambda_zero)
        self.lambda_match, self.lambda_zero = lambda_match, lambda_zero

    def loss(self, batch: ContrastBatch) -> Terms:
        elbo = self.elbo_terms(batch)
        z_t, z_b = (self.strands.take(codes, "common") for codes in (elbo.c_x, elbo.c_y))
        s_b = self.strands.take(elbo.c_y, "salient")
        match, zero = mmd(z_t, z_b, WIDTHS), mmd(s_b, torch.zeros_like(s_b), WIDTHS)
        total = elbo.bound(self.kl_weight) + self.lambda_match * match + self.lambda_zero * zero
        return Terms(total, elbo.by_name | {"match": match, "zero_salient": zero} | self.extra_logs(elbo))
