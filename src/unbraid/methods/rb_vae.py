"""Rb-VAE. Ruiz et al., 2019, Learning Disentangled Representations with Reference-Based Variational Autoencoders,
arXiv:1901.08534, Sec. 3; there the target's factors are e, here s, and the reference images are the background."""

from typing import Unpack

import torch
from torch import nn

from unbraid.methods.contrast_autoencoder import (
    ContrastAutoencoder,
    LoggedContrastOptions,
    with_shared_options,
)
from unbraid.types import Codes, ContrastBatch, Terms


@with_shared_options
class RbVAE(ContrastAutoencoder):
    r"""Contrast VAE with one learned salient code s^r for the whole background.

    .. math:: L = KL(q(z|x) q(s|x) \| p(z) p(s)) - E \log p(x|z, s) + KL(q(z|y) \| p(z)) - E \log p(y|z, s^r)

    Args:
        encoder: Network from observations to the posterior q(z, s|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z, s).
        beta: Weight of the KL divergences.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        beta: float = 1.0,
        **options: Unpack[LoggedContrastOptions],
    ) -> None:
        super().__init__(encoder, decoder, beta=beta, **options)
        self.s_r = nn.Parameter(torch.zeros(len(self.strands["salient"])))

    def background_codes(self, codes: Codes) -> Codes:
        return self.strands.set(codes, "salient", self.s_r)

    def loss(self, batch: ContrastBatch) -> Terms:
        elbo = self.elbo_terms(batch)
        return Terms(elbo.bound(self.kl_weight), elbo.by_name | self.extra_logs(elbo))
