"""Intervention autoencoder. Unsupervised Disentanglement Learning by Intervention, 2021."""

import functools
from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.distributed import all_gather
from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.feature_autoencoder import FeatureAutoencoder
from unbraid.nn import ConcatEncoder, DeterministicEncoder, frozen_batch_stats, scalar_head
from unbraid.objectives import (
    Bernoulli,
    Likelihood,
    Translator,
    adversarial_terms,
    count_active,
    normalized_weights,
    two_rows,
    variance_share_per_feature,
)
from unbraid.optimizers import Adam
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Codes, Observations, Scalar, Terms


class Intervention(FeatureAutoencoder):
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
        beta: Weight of the KL divergence of a Gaussian posterior, from which codes are sampled; 0 for a
            deterministic code, as in the paper.
        beta_schedule: Schedule that multiplies beta, such as exponential:10:1:10000. Requires beta above 0.
        feature_schedule: Schedule of the number of active features, rounded down and at least 1, such as
            linear:2:10:8000; inactive features are zero. Default: all features are active from the start.
        freeze_learned: Whether a feature is frozen, and decoded from its mean, once the next feature becomes active.
            Each feature then has its own encoder. Requires feature_schedule and beta above 0.
        prune_kl: Minimum KL divergence of a dimension in nats, averaged over the last 100 steps or so. Dimensions
            below are zero after training. Requires beta above 0.
        inner_steps: Number of steps s of the translator.
        inner_lr: Learning rate α of the translator, for the mean over pixels.
        inner_width: Width of the translator's hidden layer.
        inner_downsample: Factor by which images are downsampled along each side before translation. Default: the
            smallest factor that leaves at most 16 pixels, a whole number where no side falls below 8. Each remaining
            pixel is weighted by the number of pixels that it replaces.
        inner_adam: Whether the translator is trained by Adam, or by gradient descent as in the paper.
        subtract_entropy: Whether the entropy of the targets is subtracted from L_diff. Its gradient, in Eq. 2, drives
            pixels to black and white, however well they are translated.
        unrolled: Whether gradients flow through the translator's steps; otherwise its weights are constants.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    min_batches = 2  # Algorithm 1 has one to train the translator and another to test it

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
        beta: float = 0.0,
        beta_schedule: Schedule | None = None,
        feature_schedule: Schedule | None = None,
        freeze_learned: bool = False,
        prune_kl: float = 0.0,
        inner_steps: int = 5,  # the paper gives neither steps, rate nor layers
        inner_lr: float = 0.05,
        inner_width: int = 32,
        inner_downsample: int | None = None,
        inner_adam: bool = True,
        subtract_entropy: bool = True,
        unrolled: bool = False,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(
            encoder,
            decoder,
            num_features=num_features,
            feature_dim=feature_dim,
            beta=beta,
            beta_schedule=beta_schedule,
            feature_schedule=feature_schedule,
            freeze_learned=freeze_learned,
            prune_kl=prune_kl,
            likelihood=likelihood,
        )
        require_nonnegative(lambda_cycle=lambda_cycle, lambda_adv=lambda_adv)
        require_nonnegative(lambda_translation=lambda_translation, inner_lr=inner_lr)
        if inner_steps < 1:
            raise ValueError(f"inner_steps must be at least 1; got inner_steps={inner_steps}.")
        self.discriminator, self.weights = discriminator, weights
        self.lambda_cycle, self.lambda_adv = lambda_cycle, lambda_adv  # λ1 and λ2
        self.lambda_translation = lambda_translation  # λ3
        self.reconstruction, self.importance_weights = reconstruction, importance_weights
        self.saturating, self.real_gradient = saturating, real_gradient
        self.inner_steps, self.inner_lr, self.inner_adam = inner_steps, inner_lr, inner_adam
        self.subtract_entropy, self.unrolled = subtract_entropy, unrolled
        shape: tuple[int, ...] = encoder.shape  # type: ignore[assignment]
        self._translator = Translator(
            shape, width=inner_width, downsample_by=inner_downsample, likelihood=likelihood
        )

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
        if cls.option(settings, "freeze_learned") and "encoder" in missing:
            spec = spec._replace(latent_dim=feature_dim)
            encoders = (
                super(Intervention, cls).default_arguments(spec, {"encoder"}, settings)["encoder"]
                for _ in range(num_features)
            )
            arguments["encoder"] = functools.reduce(ConcatEncoder, encoders)
        elif not cls.option(settings, "beta"):
            arguments["encoder"] = DeterministicEncoder(arguments["encoder"])
        return arguments

    def loss(self, batch: Batch, other: Batch | None = None) -> Terms:
        if other is None:  # a single batch is split in two; of an odd batch the last image is dropped
            half = len(batch.x) // 2
            batch, other = Batch(batch.x[:half]), Batch(batch.x[half : 2 * half])
        z, z_r, kl = self.sample_codes(batch, other)
        mask = self.sample_feature_mask(z)
        z_do = torch.where(mask, z_r, z)  # Z_k = z_k^r
        decoded = self.decode_parameters(torch.cat([z, z_do]))
        parameters, _ = decoded.chunk(2)
        x_hat, x_do = self.likelihood.mean(decoded).chunk(2)
        rec = self.likelihood.nll(parameters, batch.x)
        parts, total = {"nll": rec}, rec if self.reconstruction else torch.zeros_like(rec)
        if self.lambda_cycle:
            with frozen_batch_stats(self.encoder, self.decoder):
                back = torch.where(mask, z, self.encode(x_do))  # Z_k = z_k again
                parts["cycle"] = self.likelihood.nll(self.decode_parameters(back), batch.x)
            total = total + self.lambda_cycle * parts["cycle"]
        if self.lambda_adv:
            real = x_hat if self.real_gradient else None  # its term would be constant
            parts["adversarial"] = self.adversarial(real, x_do, saturating=self.saturating)
            total = total + self.lambda_adv * parts["adversarial"]
        if self.lambda_translation:
            parts["translation"] = self.difficulty(z, z_r)
            total = total + self.lambda_translation * parts["translation"]
        if kl is not None:
            self.update_kl_average(kl)
            parts["kl"] = kl.sum()
            total = total + self.kl_weight * parts["kl"]
        change = (x_do - x_hat).detach()
        shares = variance_share_per_feature(mask[:, :: self.feature_dim], change, batch.x)
        parts["active"] = count_active(shares)
        return Terms(total, parts, cached=(x_hat.detach(), x_do.detach()))

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
        z, z_r, _ = self.sample_codes(batch, other)
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
        mask = self.pick_active_feature(u).expand(len(z), -1)
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
            steps=self.inner_steps,
            lr=self.inner_lr,
            adam=self.inner_adam,
            subtract_entropy=self.subtract_entropy,
            unrolled=self.unrolled,
        )

    def players(self) -> tuple[Player, ...]:
        autoencoder = [*self.encoder.parameters(), *self.decoder.parameters()]
        shared: dict[str, Any] = {"batches_per_update": 2, "reuses": "autoencoder"}
        discriminator, weights = self.discriminator.parameters(), self.weights.parameters()
        players = (
            Player(
                "autoencoder", autoencoder, self.loss, batches_per_update=2, frozen=self.frozen_parameters
            ),
            Player("discriminator", discriminator, self.discriminator_loss, **shared),
            Player("weights", weights, self.weights_loss, Adam(lr=1e-5), **shared),  # App. C
        )
        return players[: 1 if not self.lambda_adv else 3 if self.importance_weights else 2]
