"""Contrast VAE. Towards Principled Objectives for Contrastive Disentanglement, 2020, Eq. 3; the bound that cVAE and
sRb-VAE extend."""

from typing import Unpack

from torch import nn

from unbraid.methods.contrast_autoencoder import (
    ContrastAutoencoder,
    LoggedContrastOptions,
    with_shared_options,
)
from unbraid.types import ContrastBatch, Terms


@with_shared_options
class ContrastVAE(ContrastAutoencoder):
    r"""VAE for a target x and a background y; the background is decoded with a salient strand of zero.

    .. math:: L_{VAE} = KL(q(z|x) q(s|x) \| p(z) p(s)) - E \log p(x|z, s)
              + KL(q(z|y) \| p(z)) - E \log p(y|z, s = 0) \quad \text{(Eq. 3)}

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
        beta: float = 2.0,  # App. A.3
        **options: Unpack[LoggedContrastOptions],
    ) -> None:
        super().__init__(encoder, decoder, beta=beta, **options)

    def loss(self, batch: ContrastBatch) -> Terms:
        elbo = self.elbo_terms(batch)
        return Terms(elbo.bound(self.kl_weight), elbo.by_name | self.extra_logs(elbo))
