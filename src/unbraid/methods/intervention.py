"""Intervention autoencoder. Unsupervised Disentanglement Learning by Intervention, 2021."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.methods.base import BuildSpec
from unbraid.methods.intervention_losses import InterventionLosses, two_batches
from unbraid.nn import DeterministicEncoder, Encoder
from unbraid.objectives import Bernoulli, Likelihood, MLPTranslator, TranslatorSpec
from unbraid.types import Batch, Codes, Observations, Terms


class Intervention(InterventionLosses):
    r"""Autoencoder of K features that is trained by interventions: a feature is set to its value in another image.

    .. math:: \min_{Enc, Dec, W} \max_{Disc} L_{rec} + λ_1 L_{in} + λ_2 L_{adv} + λ_3 L_{diff}
              \quad \text{(Eq. 3)}

    :math:`L_{in}` is the cross-entropy of an image under the decoder output after two interventions: feature k is set
    to its value in another image, the code is decoded and encoded again, and feature k is set back.
    :math:`L_{adv} = E[\log Disc(\hat x) + W / N \log(1 - Disc(\hat x(Z_k = z_k^r)))]`, where W / N reweighs intervened
    images, whose distribution differs where factors are correlated (Prop. 2). :math:`L_{diff}` is the loss of a
    freshly initialized translator after a few steps on translating images with feature k set to one value into the
    same images with feature k set to another value (Algorithm 1).

    Args:
        encoder: Network from observations to codes; needs attributes `latent_dim` and `shape`.
        decoder: Network from codes to the parameters of p(x|z).
        discriminator: Network from observations to a logit: reconstructed (1) or intervened on (0).
        weights: Network from observations to log W.
        num_features: Number of features K of the code.
        feature_dim: Number of dimensions D per feature.
        reconstruction: Whether L_rec is part of the loss; without it only L_in ties codes to images.
        lambda_cycle: Weight λ1 of L_in, the reconstruction after an intervention is set back; 0 removes the term.
        lambda_adv: Weight λ2 of the adversarial loss; 0 removes the term.
        lambda_translation: Weight λ3 of the translation difficulty; 0 removes the term.
        importance_weights: Whether intervened images are weighted by W / N; otherwise all weights are 1.
        saturating: Whether the autoencoder minimizes log(1 - Disc), as in the paper, or -log Disc, whose gradient
            does not vanish where the discriminator is confident.
        real_gradient: Whether the adversarial loss has a gradient through the reconstructions, its real images.
        translator: Translator, with the width of its hidden layer, its steps s, its learning rate α for the mean over
            pixels, and the factor by which images are downsampled along each side (0: the smallest factor that leaves
            at most 16 pixels): mlp:WIDTH:STEPS:LR:DOWNSAMPLE, trained by Adam; mlp-sgd:…, trained by gradient descent;
            or plain:…, gradient descent on the cross-entropy in nats per image, as printed, by default at full size.
        subtract_entropy: Whether the entropy of the targets is subtracted from L_diff. Its gradient, in Eq. 2, drives
            pixels to black and white, however well they are translated.
        unrolled: Whether gradients flow through the translator's steps; otherwise its weights are constants.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        discriminator: nn.Module,
        weights: nn.Module,
        *,
        num_features: int = 10,  # Sec. 5.2, as all defaults: dSprites and 3D Shapes
        feature_dim: int = 1,
        reconstruction: bool = True,
        lambda_cycle: float = 0.25,
        lambda_adv: float = 10.0,
        lambda_translation: float = 1.0,
        importance_weights: bool = True,
        saturating: bool = True,
        real_gradient: bool = False,
        translator: TranslatorSpec = MLPTranslator(),  # the paper gives neither steps, rate nor layers
        subtract_entropy: bool = True,
        unrolled: bool = False,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(
            encoder,
            decoder,
            discriminator,
            weights,
            num_features=num_features,
            feature_dim=feature_dim,
            reconstruction=reconstruction,
            lambda_cycle=lambda_cycle,
            lambda_adv=lambda_adv,
            lambda_translation=lambda_translation,
            importance_weights=importance_weights,
            saturating=saturating,
            real_gradient=real_gradient,
            translator=translator,
            subtract_entropy=subtract_entropy,
            unrolled=unrolled,
            likelihood=likelihood,
        )
        if isinstance(encoder, Encoder):
            raise ValueError(
                "Codes without noise require a deterministic encoder, and this encoder returns a Gaussian posterior. "
                "Wrap it in unbraid.nn.DeterministicEncoder, or use SequentialIntervention."
            )

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments = super().default_arguments(spec, missing, settings)
        arguments["encoder"] = DeterministicEncoder(arguments["encoder"])
        return arguments

    def loss(self, batch: Batch, other: Batch | None = None) -> Terms:
        batch, other = two_batches(batch, other)
        return self.eq_3(batch, *self.sample_codes(batch, other))

    def sample_codes(self, batch: Batch, other: Batch) -> tuple[Codes, Codes]:
        z, z_r = self.encode(torch.cat([batch.x, other.x])).chunk(2)
        return z, z_r

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self.encoder(x).to(x.dtype)

    def sample_prior(self, size: int) -> Codes:
        """Raises: the code has no prior."""
        raise ValueError(
            f"{self.name()} has no prior over its codes. Encode images and decode their codes instead, or train "
            "sequential-intervention, whose codes have a normal prior."
        )
