"""Scores of a trained model that take more than its codes: it is asked to decode, or for its posterior or its flow."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.methods.base import Method
from unbraid.metrics.kl_per_code import KLPerCode, kl_per_code
from unbraid.objectives.feature_changes import LEAST, variance_shares
from unbraid.samples import Missing, Sample

SET = 2_000  # observations, at most, whose features are set, each with that of the one before


class Reconstruction(NamedTuple):
    score: float
    protocol: str
    n: int


def reconstruction(sample: Sample) -> Reconstruction:
    """The loss of decoding what was encoded, a mean over observations: nats where there is a likelihood."""
    return _reconstruction(sample)


def background_reconstruction(sample: Sample) -> Reconstruction:
    """The same of the background's observations, with salient codes at zero where the method decodes them so."""
    return _reconstruction(sample.background, getattr(sample.method, "reference", None))


def _reconstruction(sample: Sample, change: Callable[[Tensor], Tensor] | None = None) -> Reconstruction:
    method, likelihood = sample.method, getattr(sample.method, "likelihood", None)

    def error(x: Tensor, given: Tensor | None) -> Tensor:
        codes = method.encode(x, given) if change is None else change(method.encode(x, given))
        if likelihood is None:
            return (method.decode(codes, given) - x).square().sum().view(1)
        return (likelihood.nll(method.decoded(codes, given), x) * len(x)).view(1)  # type: ignore[operator]

    protocol = "squared_error" if likelihood is None else str(likelihood)
    return Reconstruction(float(sample.over_batches(error).sum()) / sample.size, protocol, sample.size)


def kl(sample: Sample, *, threshold: float = 0.01) -> KLPerCode:
    """The KL divergence of the posterior from the prior, a mean over observations: in all and code by code."""
    return kl_per_code(*sample.posterior, threshold=threshold)


class Inversion(NamedTuple):
    score: float
    codes: float
    protocol: str
    n: int


def inversion(sample: Sample) -> Inversion:
    """The largest error of a flow's inverse: of observations encoded and decoded, and of prior codes the other way."""
    from unbraid.nn.flows import exactly

    flow = getattr(sample.method, "flow", None)
    if flow is None:
        raise Missing(f"{sample.method.name()} has no flow to invert: choose other metrics.")

    def error(x: Tensor, given: Tensor | None) -> Tensor:
        z = sample.method.prior(len(x)).to(x)
        with exactly():
            there_and_back = (flow.inverse(flow(x)) - x).abs().max()
            return torch.stack([there_and_back, (flow(flow.inverse(z)) - z).abs().max()])[None]

    observations, codes = sample.over_batches(error).max(0)
    return Inversion(float(observations), float(codes), "largest absolute error", sample.size)


class Undone(NamedTuple):
    score: float
    n: int


def undone(sample: Sample) -> Undone:
    """How much of what setting one feature to another observation's changes is undone by setting it back, after what it
    gave was decoded and encoded again: 1 is all, 0 nothing. Features that change nothing do not count, so one feature
    that holds everything has 1 as well."""
    sample, method, features = sample.shuffled(SET), sample.method, _masks(sample)

    def changes(x: Tensor, given: Tensor | None) -> Tensor:
        codes = method.encode(x, given)
        decoded, totals = method.decode(codes, given), codes.new_zeros(2)
        for chosen in features:
            changed = method.decode(torch.where(chosen, codes.roll(1, 0), codes), given)
            back = method.decode(torch.where(chosen, codes, method.encode(changed, given)), given)
            totals += torch.stack([(back - decoded).square().sum(), (changed - decoded).square().sum()])
        return totals[None]

    left, made = sample.over_batches(changes).sum(0)
    return Undone(float(1 - left / made) if made > 0 else 1.0, sample.size)


class ActiveFeatures(NamedTuple):
    score: float  # how many
    shares: Float[np.ndarray, " k"]  # of the observations' variance that setting each feature makes
    threshold: float
    n: int


def active_features(sample: Sample, *, threshold: float = LEAST) -> ActiveFeatures:
    """How many features change what is decoded when they are set to another observation's: those that make more than a
    threshold of the observations' variance. How far a code itself varies does not count, since its scale means nothing
    where no prior holds it."""
    sample, method, features = sample.shuffled(SET), sample.method, _masks(sample)

    def changes(x: Tensor, given: Tensor | None) -> Tensor:
        codes = method.encode(x, given)
        decoded, others = method.decode(codes, given), codes.roll(1, 0)
        changed = (method.decode(torch.where(chosen, others, codes), given) for chosen in features)
        return torch.stack([(after - decoded).square().sum() for after in changed])[None]

    mean = torch.from_numpy(sample.over_batches(changes)).sum(0) / sample.size
    shares = variance_shares(mean, mean.new_tensor(sample.variance)).numpy()
    return ActiveFeatures(float((shares > threshold).sum()), shares, threshold, sample.size)


def _masks(sample: Sample) -> list[Tensor]:
    """The dimensions of each feature of the strand, of a method that decodes."""
    method = sample.method
    if type(method).decode is Method.decode:
        raise Missing(
            f"{method.name()} does not decode, so nothing can be set and seen: choose other metrics."
        )
    place = torch.arange(method.strands.size, device=method.step.device)
    return [torch.isin(place, place.new_tensor(columns)) for columns in sample.features.values()]


MODEL_METRICS = (reconstruction, background_reconstruction, kl, inversion, undone, active_features)
