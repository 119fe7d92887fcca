"""The losses and players of the intervention autoencoders: Unsupervised Disentanglement Learning by Intervention, 2021,
Eq. 3."""

import abc
from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.data import Dataset, Draw
from unbraid.distributed import all_gather
from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.feature_autoencoder import FeatureAutoencoder
from unbraid.nn import frozen_batch_stats, scalar_head
from unbraid.objectives import (
    Likelihood,
    Translator,
    TranslatorSpec,
    adversarial_terms,
    count_active,
    normalized_weights,
    two_rows,
    variance_share_per_feature,
)
from unbraid.optimizers import Adam
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Codes, Observations, Scalar, Terms

BATCHES = 2  # Algorithm 1 has one to train the translator and another to test it


class InterventionLosses(FeatureAutoencoder, abc.ABC):
    """An autoencoder of features with the terms of Eq. 3; subclasses define how codes are encoded and sampled."""

    family = "Interventions and GANs"

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        discriminator: nn.Module,
        weights: nn.Module,
        *,
        num_features: int,
        feature_dim: int,
        reconstruction: bool,
        lambda_cycle: float,
        lambda_adv: float,
        lambda_translation: float,
        importance_weights: bool,
        saturating: bool,
        real_gradient: bool,
        translator: TranslatorSpec,
        subtract_entropy: bool,
        unrolled: bool,
        likelihood: Likelihood,
    ) -> None:
        super().__init__(
            encoder, decoder, num_features=num_features, feature_dim=feature_dim, likelihood=likelihood
        )
        require_nonnegative(
            lambda_cycle=lambda_cycle, lambda_adv=lambda_adv, lambda_translation=lambda_translation
        )
        self.discriminator, self.weights = discriminator, weights
        self.lambda_cycle, self.lambda_adv = lambda_cycle, lambda_adv  # λ1 and λ2
        self.lambda_translation = lambda_translation  # λ3
        self.reconstruction, self.importance_weights = reconstruction, importance_weights
        self.saturating, self.real_gradient = saturating, real_gradient
        self.subtract_entropy, self.unrolled = subtract_entropy, unrolled
        shape: tuple[int, ...] = encoder.shape  # type: ignore[assignment]
        self._translator = Translator(shape, translator, likelihood=likelihood)

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        num_features, feature_dim = (cls.option(settings, name) for name in ("num_features", "feature_dim"))
        spec = spec._replace(latent_dim=num_features * feature_dim)
        arguments = super().default_arguments(spec, missing | {"encoder"}, settings)
        for name in ("discriminator", "weights"):
            if name in missing:
                arguments[name] = scalar_head(arguments["encoder"])
        return arguments

    @abc.abstractmethod
    def sample_codes(self, batch: Batch, other: Batch) -> tuple[Codes, Codes]:
        """The codes of both batches from one joint forward pass."""

    def eq_3(self, batch: Batch, z: Codes, z_r: Codes) -> Terms:
        """Eq. 3 for the codes of a batch, and the codes from which the values of features are taken."""
        mask = self.sample_feature_mask(z)
        z_do = torch.where(mask, z_r, z)  # Z_k = z_k^r
        decoded = self.decode_parameters(torch.cat([z, z_do]))
        parameters, _ = decoded.chunk(2)
        x_hat, x_do = self.likelihood.mean(decoded).chunk(2)
        rec = self.likelihood.nll(parameters, batch.x)
        terms, total = {"nll": rec}, rec if self.reconstruction else torch.zeros_like(rec)
        if self.lambda_cycle:
            with frozen_batch_stats(self.encoder, self.decoder):
                back = torch.where(mask, z, self.encode(x_do))  # Z_k = z_k again
                terms["cycle"] = self.likelihood.nll(self.decode_parameters(back), batch.x)
            total = total + self.lambda_cycle * terms["cycle"]
        if self.lambda_adv:
            real = x_hat if self.real_gradient else None  # its term would be constant
            terms["adversarial"] = self.adversarial(real, x_do, saturating=self.saturating)
            total = total + self.lambda_adv * terms["adversarial"]
        if self.lambda_translation:
            terms["translation"] = self.difficulty(z, z_r)
            total = total + self.lambda_translation * terms["translation"]
        shares = variance_share_per_feature(mask[:, :: self.feature_dim], (x_do - x_hat).detach(), batch.x)
        terms["active"] = count_active(shares)
        return Terms(total, terms, cached=(x_hat.detach(), x_do.detach()))

    def discriminator_loss(
        self, batch: Batch, other: Batch, x_hat: Observations | None = None, x_do: Observations | None = None
    ) -> Terms:
        """The loss of the discriminator, -L_adv, without gradient to other networks.

        Reconstructions and intervened images are computed from the batches unless they are passed.
        """
        with torch.no_grad():
            if x_hat is None or x_do is None:
                x_hat, x_do = self.intervened(batch, other)
            log_w = self.log_weights(x_do)
        return Terms(-self.adversarial(x_hat, x_do, log_w), {})

    def weights_loss(
        self, batch: Batch, other: Batch, x_hat: Observations | None = None, x_do: Observations | None = None
    ) -> Terms:
        """The loss of the weight network: the part of L_adv that depends on W."""
        if x_do is None:
            with torch.no_grad():
                _, x_do = self.intervened(batch, other)
        log_w = self.log_weights(x_do)
        largest = all_gather(normalized_weights(log_w).detach()).amax()
        return Terms(self.adversarial(None, x_do, log_w), {"max_weight": largest})

    def intervened(self, batch: Batch, other: Batch) -> tuple[Observations, Observations]:
        """Reconstructions, and images decoded with one feature set to its value in the other image."""
        z, z_r = self.sample_codes(batch, other)
        z_do = torch.where(self.sample_feature_mask(z), z_r, z)
        x_hat, x_do = self.likelihood.mean(self.decode_parameters(torch.cat([z, z_do]))).chunk(2)
        return x_hat, x_do

    def adversarial(
        self,
        x_hat: Observations | None,
        x_do: Observations,
        log_w: Float[Tensor, " b"] | None = None,
        *,
        saturating: bool = True,
    ) -> Scalar:
        """L_adv. The second Disc and W of the printed equation are evaluated on the intervened image.

        Without reconstructions, only the term that depends on intervened images.
        """
        images = [x_do] if x_hat is None else [x_do, x_hat]
        logits = self.discriminator(torch.cat(images)).to(x_do.dtype)[:, 0]
        fake, real = logits[: len(x_do)], None if x_hat is None else logits[len(x_do) :]
        w = normalized_weights(self.log_weights(x_do) if log_w is None else log_w)
        return adversarial_terms(real, fake, w, saturating=saturating)

    def log_weights(self, x: Observations) -> Float[Tensor, " b"]:
        """log W per image; 0 where images are not weighted."""
        return self.weights(x).to(x.dtype)[:, 0] if self.importance_weights else x.new_zeros(len(x))

    def difficulty(self, z: Codes, z_test: Codes) -> Scalar:
        """L_diff: one feature, its values in two images, a freshly initialized translator (Algorithm 1)."""
        a, b = two_rows(all_gather(z))
        u = torch.rand(1, self.num_features, device=z.device)
        mask = self.pick_feature(u).expand(len(z), -1)
        train, test = (
            [torch.where(mask, value.expand_as(codes), codes) for value in (a, b)] for codes in (z, z_test)
        )
        with frozen_batch_stats(self.decoder):
            images = self.likelihood.mean(self.decode_parameters(torch.cat([*train, *test])))
        u, v, u_test, v_test = images.chunk(4)
        return self._translator.difficulty(
            all_gather(u),
            all_gather(v),
            u_test,
            v_test,
            subtract_entropy=self.subtract_entropy,
            unrolled=self.unrolled,
        )

    def players(self) -> tuple[Player, ...]:
        autoencoder = [*self.encoder.parameters(), *self.decoder.parameters()]
        shared: dict[str, Any] = {"batches_per_update": BATCHES, "reuses": "autoencoder"}
        discriminator, weights = self.discriminator.parameters(), self.weights.parameters()
        players = (
            Player(
                "autoencoder",
                autoencoder,
                self.loss,
                batches_per_update=BATCHES,
                frozen=self.frozen_parameters,
            ),
            Player("discriminator", discriminator, self.discriminator_loss, **shared),
            Player("weights", weights, self.weights_loss, Adam(lr=1e-5), **shared),  # App. C
        )
        return players[: 1 if not self.lambda_adv else 3 if self.importance_weights else 2]

    def frozen_parameters(self, step: int) -> list[nn.Parameter]:
        """The parameters of encoder and decoder that are not updated at a step; none by default."""
        return []

    def check_training(self, dataset: Dataset, draw: Draw, batch_size: int) -> None:
        """Raises unless the dataset has as many observations as a step needs."""
        needed = BATCHES * batch_size
        if len(dataset) < needed:
            raise ValueError(
                f"{self.name()} needs {needed} observations for {BATCHES} batches of {batch_size}, and the training "
                f"split of {dataset.name} has {len(dataset)}. Use a smaller --batch-size or --val-fraction, or more "
                "data."
            )


def two_batches(batch: Batch, other: Batch | None) -> tuple[Batch, Batch]:
    """Both batches; a single batch is split in two, and the last image of an odd batch is dropped."""
    if other is not None:
        return batch, other
    half = len(batch.x) // 2
    return Batch(batch.x[:half]), Batch(batch.x[half : 2 * half])
