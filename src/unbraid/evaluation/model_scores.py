"""Metrics that need the model itself: its decoder, its posterior or its flow."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.evaluation.prior_samples import Decoder, background_prior_samples, prior_samples
from unbraid.evaluation.sample import Sample
from unbraid.evaluation.strand_probes import strand_probes
from unbraid.methods import HasBackgroundCodes, HasLikelihood
from unbraid.metrics import KLPerDim, kl_per_dim
from unbraid.objectives import ACTIVE_VARIANCE_SHARE, variance_shares

BLOCK = 512  # observations among which each takes the feature of the one before it
MAX_INTERVENTIONS = 2_000  # observations per feature; each takes the feature of the observation before it


class Reconstruction(NamedTuple):
    score: float
    protocol: str
    n: int

    higher_is_better = False
    bounds = (None, None)


def reconstruction(sample: Sample, decoder: Decoder) -> Reconstruction:
    """Mean reconstruction loss per observation, in nats if the method has a likelihood."""
    return _reconstruction(sample, decoder)


class BackgroundReconstruction(NamedTuple):
    score: float
    protocol: str
    n_background: int

    higher_is_better = False
    bounds = (None, None)


def background_reconstruction(
    sample: Sample, background: Sample, decoder: Decoder
) -> BackgroundReconstruction:
    """Mean reconstruction loss of the background, with salient codes zero if the method decodes it this way."""
    method = sample.method
    change = method.background_codes if isinstance(method, HasBackgroundCodes) else None
    return BackgroundReconstruction(*_reconstruction(background, decoder, change))


def _reconstruction(
    sample: Sample, decoder: Decoder, change: Callable[[Tensor], Tensor] | None = None
) -> Reconstruction:
    method = sample.method

    def error(x: Tensor, condition: Tensor | None) -> Tensor:
        codes = method.encode(x, condition)
        codes = codes if change is None else change(codes)
        if not isinstance(method, HasLikelihood):
            return (decoder(codes, condition) - x).square().sum().view(1)
        return (method.likelihood.nll(method.decode_parameters(codes, condition), x) * len(x)).view(1)

    protocol = str(method.likelihood) if isinstance(method, HasLikelihood) else "squared_error"
    return Reconstruction(float(sample.map_batches(error).sum()) / sample.size, protocol, sample.size)


def kl(posterior: tuple[np.ndarray, np.ndarray], *, threshold: float = 0.01) -> KLPerDim:
    """Mean KL divergence from the posterior to the prior per observation in nats, in total and per dimension."""
    return kl_per_dim(*posterior, threshold=threshold)


class Inversion(NamedTuple):
    score: float
    codes: float
    protocol: str
    n: int

    higher_is_better = False
    bounds = (0.0, None)


def inversion(sample: Sample, flow: Any) -> Inversion:
    """Largest error of a flow's inverse on observations (`score`) and on codes of the prior."""
    from unbraid.nn import disable_tf32

    def error(x: Tensor, condition: Tensor | None) -> Tensor:
        z = sample.method.sample_prior(len(x)).to(x)
        with disable_tf32():
            errors = flow.inverse(flow(x)) - x, flow(flow.inverse(z)) - z
            return torch.stack([error.abs().max() for error in errors])[None]

    observations, codes = sample.map_batches(error).max(0)
    return Inversion(float(observations), float(codes), "largest absolute error", sample.size)


class InterventionReversibility(NamedTuple):
    score: float
    n: int

    higher_is_better = True
    bounds = (None, 1.0)


def intervention_reversibility(sample: Sample, decoder: Decoder) -> InterventionReversibility:
    """Fraction of the change caused by an intervention that disappears when the feature is set back after a
    decode–encode cycle (1: fully reversed, 0: not at all). A feature that changes nothing does not count, so a single
    feature that encodes everything scores 1, too."""
    sample, method, masks = sample.shuffled(MAX_INTERVENTIONS), sample.method, _masks(sample)
    pairs = _CodePairs(sample)

    def changes(x: Tensor, condition: Tensor | None) -> Tensor:
        codes, others = pairs.next(len(x))
        decoded, totals = decoder(codes, condition), codes.new_zeros(2)
        for mask in masks:
            changed = decoder(torch.where(mask, others, codes), condition)
            restored = decoder(torch.where(mask, codes, method.encode(changed, condition)), condition)
            totals += torch.stack([(restored - decoded).square().sum(), (changed - decoded).square().sum()])
        return totals[None]

    remaining, total = sample.map_batches(changes).sum(0)
    return InterventionReversibility(float(1 - remaining / total) if total > 0 else 1.0, sample.distinct())


class ActiveFeatures(NamedTuple):
    score: float  # number of active features
    shares: Float[np.ndarray, " k"]  # of the observations' variance, per feature
    threshold: float
    n: int

    higher_is_better = None
    bounds = (0.0, None)


def active_features(
    sample: Sample, decoder: Decoder, *, threshold: float = ACTIVE_VARIANCE_SHARE
) -> ActiveFeatures:
    """Number of features whose interventions cause more than a threshold of the observations' variance in the decoded
    observations. The variance of the codes does not count, because their scale is arbitrary without a prior."""
    sample, masks = sample.shuffled(MAX_INTERVENTIONS), _masks(sample)
    pairs = _CodePairs(sample)

    def changes(x: Tensor, condition: Tensor | None) -> Tensor:
        codes, others = pairs.next(len(x))
        decoded = decoder(codes, condition)
        changed = (decoder(torch.where(mask, others, codes), condition) for mask in masks)
        return torch.stack([(after - decoded).square().sum() for after in changed])[None]

    mean = torch.from_numpy(sample.map_batches(changes)).sum(0) / sample.size
    shares = variance_shares(mean, mean.new_tensor(sample.variance)).numpy()
    return ActiveFeatures(float((shares > threshold).sum()), shares, threshold, sample.distinct())


class _CodePairs:
    """The codes of a sample, batch after batch, each with the codes of the observation before it.

    The first observation of a block follows the last one. Blocks are not batches, so that scores do not depend on how
    many observations pass a network at once.
    """

    def __init__(self, sample: Sample) -> None:
        codes = torch.from_numpy(sample.map_batches(sample.method.encode)).to(sample.method.step.device)
        self._codes = codes
        self._others = torch.cat([block.roll(1, 0) for block in codes.split(BLOCK)])
        self._start = 0

    def next(self, count: int) -> tuple[Tensor, Tensor]:
        part = slice(self._start, self._start + count)
        self._start += count
        return self._codes[part], self._others[part]


def _masks(sample: Sample) -> list[Tensor]:
    """One mask of dimensions per feature of the strand."""
    method = sample.method
    dimensions = torch.arange(method.strands.size, device=method.step.device)
    return [torch.isin(dimensions, dimensions.new_tensor(feature)) for feature in sample.features.values()]


MODEL_METRICS = (
    reconstruction,
    background_reconstruction,
    kl,
    inversion,
    intervention_reversibility,
    active_features,
    prior_samples,
    background_prior_samples,
    strand_probes,
)
