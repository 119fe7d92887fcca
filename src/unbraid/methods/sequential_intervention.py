"""Sequential intervention autoencoder, our extension of *Unsupervised Disentanglement Learning by Intervention*, 2021:
features become active one after the other, and a bottleneck limits what each encodes."""

import functools
from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from unbraid.distributed import all_gather
from unbraid.methods.base import BuildSpec
from unbraid.methods.intervention_losses import InterventionLosses, two_batches
from unbraid.methods.sequential import SequentialFeatures
from unbraid.nn import ConcatEncoder
from unbraid.objectives import Bernoulli, Likelihood, MLPTranslator, TranslatorSpec, kl_per_dim
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Codes, Gaussian, Observations, Scalar, Terms

KL_AVERAGE_RATE = 0.01  # of the moving average of the KL per dimension: about the last 100 steps


class SequentialIntervention(InterventionLosses):
    r"""Intervention autoencoder with a KL bottleneck, whose features can become active one after the other.

    .. math:: L_{rec} + λ_1 L_{in} + λ_2 L_{adv} + λ_3 L_{diff} + β \sum_j KL(q(z_j|x) \| p(z_j))

    over the active features; inactive features are zero. The first four terms are those of the paper's intervention
    autoencoder, with codes sampled from a Gaussian posterior. A frozen feature is its posterior mean.

    Args:
        encoder: Network from observations to the posterior q(z|x); needs attributes `latent_dim` and `shape`.
        decoder: Network from codes to the parameters of p(x|z).
        discriminator: Network from observations to a logit: reconstructed (1) or intervened on (0).
        weights: Network from observations to log W.
        num_features: Number of features K of the code.
        feature_dim: Number of dimensions D per feature.
        beta: Weight β of the KL divergence, above 0.
        beta_schedule: Schedule that multiplies beta, such as exponential:10:1:10000. Default: beta is constant.
        feature_schedule: Schedule of the number of active features, rounded down and at least 1, such as
            linear:2:10:8000. Default: all features are active from the start.
        freeze_learned: Whether a feature is frozen, and decoded from its mean, once the next feature becomes active.
            Each feature then has its own encoder. Requires feature_schedule.
        prune_kl: Minimum KL divergence of a dimension in nats, averaged over the last 100 steps or so. Dimensions
            below are zero after training; 0 prunes none.
        reconstruction: Whether L_rec is part of the loss; without it only L_in ties codes to images.
        lambda_cycle: Weight λ1 of L_in, the reconstruction after an intervention is set back; 0 removes the term.
        lambda_adv: Weight λ2 of the adversarial loss; 0 removes the term.
        lambda_translation: Weight λ3 of the translation difficulty; 0 removes the term.
        importance_weights: Whether intervened images are weighted by W / N; otherwise all weights are 1.
        saturating: Whether the autoencoder minimizes log(1 - Disc), or -log Disc, whose gradient does not vanish where
            the discriminator is confident.
        real_gradient: Whether the adversarial loss has a gradient through the reconstructions, its real images.
        translator: Translator of L_diff: mlp:WIDTH:STEPS:LR:DOWNSAMPLE, trained by Adam, mlp-sgd:…, trained by gradient
            descent, or plain:…, as the paper prints it. A factor DOWNSAMPLE of 0 is chosen by size.
        subtract_entropy: Whether the entropy of the targets is subtracted from L_diff.
        unrolled: Whether gradients flow through the translator's steps; otherwise its weights are constants.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    kl_average: Tensor | None

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        discriminator: nn.Module,
        weights: nn.Module,
        *,
        num_features: int = 10,
        feature_dim: int = 1,
        beta: float = 1.0,
        beta_schedule: Schedule | None = None,
        feature_schedule: Schedule | None = None,
        freeze_learned: bool = False,
        prune_kl: float = 0.0,
        reconstruction: bool = True,
        lambda_cycle: float = 0.25,  # these and all below as in the paper's method
        lambda_adv: float = 10.0,
        lambda_translation: float = 1.0,
        importance_weights: bool = True,
        saturating: bool = True,
        real_gradient: bool = False,
        translator: TranslatorSpec = MLPTranslator(),
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
        require_nonnegative(beta=beta, prune_kl=prune_kl)
        if not beta:
            raise ValueError(
                "--beta must be above 0, because codes are sampled from a posterior; got 0. Use the method "
                "intervention for codes without noise."
            )
        if freeze_learned and feature_schedule is None:
            raise ValueError("--freeze-learned requires --feature-schedule. Set it, such as linear:1:2:5000.")
        if freeze_learned:
            _require_encoders(encoder, num_features, feature_dim)
        self.beta, self.beta_schedule, self.prune_kl = beta, beta_schedule, prune_kl
        kl_average = torch.zeros(num_features * feature_dim) if prune_kl else None
        self.register_buffer("kl_average", kl_average)  # per dimension, in nats
        self._sequence = SequentialFeatures(num_features, feature_dim, feature_schedule, freeze_learned)

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments = super().default_arguments(spec, missing, settings)
        if cls.option(settings, "freeze_learned") and "encoder" in missing:
            spec = spec._replace(latent_dim=cls.option(settings, "feature_dim"))
            encoders = (
                super(InterventionLosses, cls).default_arguments(spec, {"encoder"}, settings)["encoder"]
                for _ in range(cls.option(settings, "num_features"))
            )
            arguments["encoder"] = functools.reduce(ConcatEncoder, encoders)
        return arguments

    def loss(self, batch: Batch, other: Batch | None = None) -> Terms:
        batch, other = two_batches(batch, other)
        q, q_r = self.posteriors(batch, other)
        z, z_r = self.sampled(q), self.sampled(q_r)
        kl = kl_per_dim(q)
        total, terms, cached = self.eq_3(batch, z, z_r)
        self.update_kl_average(kl)
        active = terms.pop("active")
        terms |= {"kl": kl.sum(), "active": active}
        return Terms(total + self.kl_weight * terms["kl"], terms, cached)

    @property
    def kl_weight(self) -> float | Scalar:
        """The weight of the KL divergence at this step."""
        return self.beta if self.beta_schedule is None else self.beta * self.beta_schedule(self.step)

    def posterior(self, x: Observations) -> Gaussian:
        """The posterior q(z|x); zero codes in inactive features and pruned dimensions."""
        mean, logvar = (self._without_pruned(part.to(x.dtype)) for part in self.encoder(x))
        return Gaussian(mean, logvar)

    def posteriors(self, batch: Batch, other: Batch) -> tuple[Gaussian, Gaussian]:
        """The posteriors of both batches from one joint forward pass, as in training."""
        mean, logvar = (part.to(batch.x.dtype) for part in self.encoder(torch.cat([batch.x, other.x])))
        q, q_r = map(Gaussian, self.mask_inactive(mean).chunk(2), self.mask_inactive(logvar).chunk(2))
        return q, q_r

    def sample_codes(self, batch: Batch, other: Batch) -> tuple[Codes, Codes]:
        q, q_r = self.posteriors(batch, other)
        return self.sampled(q), self.sampled(q_r)

    def sampled(self, q: Gaussian) -> Codes:
        """Samples from posteriors, but the means of frozen features: the next feature would otherwise encode again
        what the noise hides."""
        frozen = self._sequence.dims_of(self._sequence.frozen(self.step))
        return self.mask_inactive(torch.where(frozen, q.mean, q.sample()))

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self._without_pruned(self.encoder(x)[0].to(x.dtype))

    def pick_feature(self, u: Float[Tensor, "b k"]) -> Bool[Tensor, "b d"]:
        """The dimensions of the active feature with the largest of the numbers in [0, 1]."""
        return super().pick_feature(torch.where(self._sequence.active(self.step), u, -1))

    def mask_inactive(self, codes: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
        """The codes with inactive features and pruned dimensions of frozen features set to zero."""
        codes = self._sequence.mask_inactive(codes, self.step)
        if self.kl_average is None:
            return codes
        frozen = self._sequence.dims_of(self._sequence.frozen(self.step))
        pruned = frozen & (self.kl_average < self.prune_kl)
        return codes * (~pruned).to(codes.dtype)

    def _without_pruned(self, codes: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
        """The codes with inactive features set to zero, and after training all pruned dimensions."""
        codes = self.mask_inactive(codes)
        if self.kl_average is None or self.training:
            return codes
        return codes * (self.kl_average >= self.prune_kl).to(codes.dtype)

    def update_kl_average(self, kl: Float[Tensor, " d"]) -> None:
        """Updates the moving average of the KL per dimension, in training mode."""
        if self.kl_average is not None and self.training:
            mean = all_gather(kl.detach()[None]).mean(0).to(self.kl_average.dtype)
            self.kl_average.lerp_(mean, KL_AVERAGE_RATE)

    def frozen_parameters(self, step: int) -> list[nn.Parameter]:
        """The parameters of encoders whose feature is frozen, or not active yet."""
        if not (self._sequence.freeze_learned and isinstance(self.encoder, ConcatEncoder)):
            return []
        trainable = self._sequence.trainable(torch.tensor(step))[0].tolist()
        encoders = zip(self.encoder.encoders, trainable, strict=True)
        return [p for encoder, trains in encoders if not trains for p in encoder.parameters()]


def _require_encoders(encoder: nn.Module, num_features: int, feature_dim: int) -> None:
    """Raises unless each feature has its own encoder."""
    sizes = [part.latent_dim for part in encoder.encoders] if isinstance(encoder, ConcatEncoder) else []
    if sizes != [feature_dim] * num_features:
        raise ValueError(
            f"freeze_learned requires one encoder per feature: unbraid.nn.ConcatEncoder of {num_features} encoders "
            f"of {feature_dim} dimensions each; got {type(encoder).__name__}{f' of {sizes}' if sizes else ''}."
        )
