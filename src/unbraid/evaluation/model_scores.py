"""Metrics that need the model itself: its decoder, its posterior or its flow."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.evaluation.arrays import NotAvailable
from unbraid.evaluation.sample import Sample
from unbraid.methods import FlowMethod, HasBackgroundCodes, HasLikelihood, Method
from unbraid.metrics import KLPerDim, kl_per_dim
from unbraid.objectives import ACTIVE_VARIANCE_SHARE, variance_shares

MAX_INTERVENTIONS = 2_000  # observations per feature; each takes the feature of the observation before it


class Reconstruction(NamedTuple):
    score: float
    protocol: str
    n: int


def reconstruction(sample: Sample) -> Reconstruction:
    """Mean reconstruction loss per observation, in nats if the method has a likelihood. Lower is better."""
    return _reconstruction(sample)


def background_reconstruction(sample: Sample) -> Reconstruction:
    """Mean reconstruction loss of the background, with salient codes zero if the method decodes it this way."""
    method = sample.method
    change = method.background_codes if isinstance(method, HasBackgroundCodes) else None
    return _reconstruction(sample.background, change)


def _reconstruction(sample: Sample, change: Callable[[Tensor], Tensor] | None = None) -> Reconstruction:
    method = sample.method

    def error(x: Tensor, condition: Tensor | None) -> Tensor:
        codes = method.encode(x, condition)
        codes = codes if change is None else change(codes)
        if not isinstance(method, HasLikelihood):
            return (method.decode(codes, condition) - x).square().sum().view(1)
        return (method.likelihood.nll(method.decode_parameters(codes, condition), x) * len(x)).view(1)

    protocol = str(method.likelihood) if isinstance(method, HasLikelihood) else "squared_error"
    return Reconstruction(float(sample.map_batches(error).sum()) / sample.size, protocol, sample.size)


def kl(sample: Sample, *, threshold: float = 0.01) -> KLPerDim:
    """Mean KL divergence from the posterior to the prior per observation in nats, in total and per dimension."""
    return kl_per_dim(*sample.posterior, threshold=threshold)


class Inversion(NamedTuple):
    score: float
    codes: float
    protocol: str
    n: int


def inversion(sample: Sample) -> Inversion:
    """Largest error of a flow's inverse on observations (`score`) and on codes of the prior. Lower is better."""
    from unbraid.nn import disable_tf32

    method = sample.method
    if not isinstance(method, FlowMethod):
        raise NotAvailable(f"This metric needs a flow, and {method.name()} has none. Choose other metrics.")

    def error(x: Tensor, condition: Tensor | None) -> Tensor:
        z = method.sample_prior(len(x)).to(x)
        flow: Any = method.flow
        with disable_tf32():
            errors = flow.inverse(flow(x)) - x, flow(flow.inverse(z)) - z
            return torch.stack([error.abs().max() for error in errors])[None]

    observations, codes = sample.map_batches(error).max(0)
    return Inversion(float(observations), float(codes), "largest absolute error", sample.size)


class InterventionReversibility(NamedTuple):
    score: float
    n: int


def intervention_reversibility(sample: Sample) -> InterventionReversibility:
    """Fraction of the change caused by an intervention that disappears when the feature is set back after a
    decode–encode cycle (1: fully reversed, 0: not at all). A feature that changes nothing does not count, so a single
    feature that encodes everything scores 1, too."""
    sample, method, masks = sample.shuffled(MAX_INTERVENTIONS), sample.method, _masks(sample)

    def changes(x: Tensor, condition: Tensor | None) -> Tensor:
        codes = method.encode(x, condition)
        decoded, totals = method.decode(codes, condition), codes.new_zeros(2)
        for mask in masks:
            changed = method.decode(torch.where(mask, codes.roll(1, 0), codes), condition)
            restored = method.decode(torch.where(mask, codes, method.encode(changed, condition)), condition)
            totals += torch.stack([(restored - decoded).square().sum(), (changed - decoded).square().sum()])
        return totals[None]

    remaining, total = sample.map_batches(changes).sum(0)
    return InterventionReversibility(float(1 - remaining / total) if total > 0 else 1.0, sample.size)


class ActiveFeatures(NamedTuple):
    score: float  # number of active features
    shares: Float[np.ndarray, " k"]  # of the observations' variance, per feature
    threshold: float
    n: int


def active_features(sample: Sample, *, threshold: float = ACTIVE_VARIANCE_SHARE) -> ActiveFeatures:
    """Number of features whose interventions cause more than a threshold of the observations' variance in the decoded
    observations. The variance of the codes does not count, because their scale is arbitrary without a prior."""
    sample, method, masks = sample.shuffled(MAX_INTERVENTIONS), sample.method, _masks(sample)

    def changes(x: Tensor, condition: Tensor | None) -> Tensor:
        codes = method.encode(x, condition)
        decoded, others = method.decode(codes, condition), codes.roll(1, 0)
        changed = (method.decode(torch.where(mask, others, codes), condition) for mask in masks)
        return torch.stack([(after - decoded).square().sum() for after in changed])[None]

    mean = torch.from_numpy(sample.map_batches(changes)).sum(0) / sample.size
    shares = variance_shares(mean, mean.new_tensor(sample.variance)).numpy()
    return ActiveFeatures(float((shares > threshold).sum()), shares, threshold, sample.size)


def _masks(sample: Sample) -> list[Tensor]:
    """One mask of dimensions per feature of the strand."""
    method = sample.method
    if type(method).decode is Method.decode:
        raise NotAvailable(
            f"This metric decodes codes, and {method.name()} has no decoder. Choose other metrics."
        )
    dimensions = torch.arange(method.strands.size, device=method.step.device)
    return [torch.isin(dimensions, dimensions.new_tensor(feature)) for feature in sample.features.values()]


MODEL_METRICS = (
    reconstruction,
    background_reconstruction,
    kl,
    inversion,
    intervention_reversibility,
    active_features,
)
