"""The code of the intervention autoencoder: K features of D dimensions, deterministic or with a Gaussian posterior.

The paper has codes without noise. The Gaussian posterior, the schedule of active features, frozen features and
pruned dimensions are not in the paper.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from unbraid.distributed import all_gather, local_shard, random_for_global_batch
from unbraid.methods.base import Method
from unbraid.methods.predictor import require_codes
from unbraid.methods.sequential import SequentialFeatures
from unbraid.nn import ConcatEncoder, Encoder
from unbraid.objectives import Likelihood, kl_per_dim
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands, feature_strands
from unbraid.types import Batch, Codes, Gaussian, Observations, Scalar, Terms

KL_AVERAGE_RATE = 0.01  # of the moving average of the KL per dimension: about the last 100 steps


class FeatureAutoencoder(Method[Batch]):
    """An autoencoder whose code consists of features; the subclass defines the loss."""

    kl_average: Tensor | None
    has_own_code_size = True
    code_size_options = "--num-features × --feature-dim"

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        num_features: int,
        feature_dim: int,
        beta: float,
        beta_schedule: Schedule | None,
        feature_schedule: Schedule | None,
        freeze_learned: bool,
        prune_kl: float,
        likelihood: Likelihood,
    ) -> None:
        super().__init__()
        require_nonnegative(beta=beta, prune_kl=prune_kl)
        if num_features < 2 or feature_dim < 1:
            raise ValueError(
                "num_features must be at least 2 and feature_dim at least 1; "
                f"got num_features={num_features}, feature_dim={feature_dim}."
            )
        _require_posterior(beta, beta_schedule, feature_schedule, freeze_learned, prune_kl)
        _require_networks(encoder, decoder, num_features, feature_dim, beta, freeze_learned)
        self.encoder, self.decoder, self.likelihood = encoder, decoder, likelihood
        self.num_features, self.feature_dim = num_features, feature_dim
        self.beta, self.beta_schedule, self.prune_kl = beta, beta_schedule, prune_kl
        kl_average = torch.zeros(num_features * feature_dim) if prune_kl else None
        self.register_buffer("kl_average", kl_average)  # per dimension, in nats
        self._strands = feature_strands(num_features, feature_dim)
        self._sequence = SequentialFeatures(num_features, feature_dim, feature_schedule, freeze_learned)

    @property
    def strands(self) -> Strands:
        return self._strands

    @property
    def feature_strands(self) -> tuple[str, ...]:
        """The strands of the features; none where features have one dimension each."""
        return tuple(self.strands)[1:]

    @property
    def kl_weight(self) -> float | Scalar:
        """The weight of the KL divergence at this step."""
        return self.beta if self.beta_schedule is None else self.beta * self.beta_schedule(self.step)

    def sample_codes(self, batch: Batch, other: Batch) -> tuple[Codes, Codes, Float[Tensor, " d"] | None]:
        """The codes of both batches from one joint forward pass; with a Gaussian posterior, samples and the KL per
        dimension."""
        if not self.beta:
            z, z_r = self.encode(torch.cat([batch.x, other.x])).chunk(2)
            return z, z_r, None
        mean, logvar = (part.to(batch.x.dtype) for part in self.encoder(torch.cat([batch.x, other.x])))
        q, q_r = map(Gaussian, self.mask_inactive(mean).chunk(2), self.mask_inactive(logvar).chunk(2))
        return self.sampled(q), self.sampled(q_r), kl_per_dim(q)

    def sampled(self, q: Gaussian) -> Codes:
        """Samples from posteriors, but the means of frozen features: the next feature would otherwise encode again
        what the noise hides."""
        frozen = self._sequence.dims_of(self._sequence.frozen(self.step))
        return self.mask_inactive(torch.where(frozen, q.mean, q.sample()))

    def sample_feature_mask(self, z: Codes) -> Bool[Tensor, "b d"]:
        """The dimensions of one feature per image, drawn uniformly from the active features."""
        u = local_shard(random_for_global_batch(torch.rand, z, self.num_features))
        return self.pick_active_feature(u)

    def pick_active_feature(self, u: Float[Tensor, "b k"]) -> Bool[Tensor, "b d"]:
        """The dimensions of the active feature with the largest of the numbers in [0, 1]."""
        u = torch.where(self._sequence.active(self.step), u, -1)
        return self._sequence.dims_of(u == u.amax(1, keepdim=True))

    def mask_inactive(self, codes: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
        """The codes with inactive features and pruned dimensions of frozen features set to zero."""
        codes = self._sequence.mask_inactive(codes, self.step)
        if self.kl_average is None:
            return codes
        frozen = self._sequence.dims_of(self._sequence.frozen(self.step))
        pruned = frozen & (self.kl_average < self.prune_kl)
        return codes * (~pruned).to(codes.dtype)

    def update_kl_average(self, kl: Float[Tensor, " d"]) -> None:
        """Updates the moving average of the KL per dimension, in training mode."""
        if self.kl_average is not None and self.training:
            mean = all_gather(kl.detach()[None]).mean(0).to(self.kl_average.dtype)
            self.kl_average.lerp_(mean, KL_AVERAGE_RATE)

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        out = self.encoder(x)
        codes = self.mask_inactive((out[0] if self.beta else out).to(x.dtype))
        if self.kl_average is None or self.training:
            return codes
        return codes * (self.kl_average >= self.prune_kl).to(codes.dtype)

    def decode(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        return self.likelihood.mean(self.decode_parameters(codes, condition))

    def decode_parameters(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        """The output of the decoder: the parameters of p(x|z)."""
        return self.decoder(codes).to(codes.dtype)

    def sample_prior(self, size: int) -> Codes:
        """Standard normal codes, where the KL divergence makes the code standard normal."""
        if not self.beta:
            raise ValueError(
                "Sampling from the prior requires a Gaussian posterior, and this model has beta=0. Encode images "
                "instead, or train with --beta above 0."
            )
        return super().sample_prior(size)

    def frozen_parameters(self, step: int) -> list[nn.Parameter]:
        """The parameters of encoders whose feature is frozen, or not active yet."""
        if not (self._sequence.freeze_learned and isinstance(self.encoder, ConcatEncoder)):
            return []
        trainable = self._sequence.trainable(torch.tensor(step))[0].tolist()
        encoders = zip(self.encoder.encoders, trainable, strict=True)
        return [p for encoder, trains in encoders if not trains for p in encoder.parameters()]

    def validation_loss(self, batch: Batch) -> Terms:
        """The reconstruction loss."""
        nll = self.likelihood.nll(self.decode_parameters(self.encode(batch.x)), batch.x)
        return Terms(nll, {"nll": nll})


def _require_posterior(
    beta: float,
    beta_schedule: Schedule | None,
    feature_schedule: Schedule | None,
    freeze_learned: bool,
    prune_kl: float,
) -> None:
    """Raises where an option requires a Gaussian posterior and there is none."""
    if beta_schedule is not None and not beta:
        raise ValueError("--beta-schedule multiplies --beta, and --beta is 0. Set --beta above 0.")
    if prune_kl and not beta:
        raise ValueError(
            "--prune-kl requires a Gaussian posterior: set --beta above 0, or leave --prune-kl at 0."
        )
    if freeze_learned and (feature_schedule is None or not beta):
        raise ValueError("--freeze-learned requires --feature-schedule and --beta above 0.")


def _require_networks(
    encoder: nn.Module,
    decoder: nn.Module,
    num_features: int,
    feature_dim: int,
    beta: float,
    freeze_learned: bool,
) -> None:
    """Raises unless encoder and decoder have the size of the code, and the encoder the posterior that beta needs."""
    latent_dim = num_features * feature_dim
    require_codes(encoder, latent_dim)
    decoder_dim = getattr(decoder, "latent_dim", latent_dim)
    if decoder_dim != latent_dim:
        raise ValueError(
            f"{num_features} features of {feature_dim} dimensions make a code of {latent_dim} dimensions, and the "
            f"decoder takes {decoder_dim}. Pass a decoder of {latent_dim} dimensions."
        )
    if isinstance(encoder, Encoder) and not beta:
        raise ValueError(
            "beta=0 requires a deterministic encoder, and this encoder returns a Gaussian posterior. Wrap it in "
            "unbraid.nn.DeterministicEncoder, or set beta above 0."
        )
    sizes = [part.latent_dim for part in encoder.encoders] if isinstance(encoder, ConcatEncoder) else []
    if freeze_learned and sizes != [feature_dim] * num_features:
        raise ValueError(
            f"freeze_learned requires one encoder per feature: unbraid.nn.ConcatEncoder of {num_features} encoders "
            f"of {feature_dim} dimensions each; got {type(encoder).__name__}{f' of {sizes}' if sizes else ''}."
        )
