"""Scores of a trained model that take more than its codes: it is asked to decode, or for its posterior or its flow."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from unbraid.methods.base import Method
from unbraid.metrics.kl_per_code import KLPerCode, kl_per_code
from unbraid.samples import Missing, Sample


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
    method = sample.method
    if type(method).decode is Method.decode:
        raise Missing(
            f"{method.name()} does not decode, so nothing can be set and seen: choose other metrics."
        )
    features, size = list(sample.features.values()), method.strands.size

    def changes(x: Tensor, given: Tensor | None) -> Tensor:
        codes = method.encode(x, given)
        decoded, totals = method.decode(codes, given), codes.new_zeros(2)
        for columns in features:
            chosen = torch.isin(
                torch.arange(size, device=codes.device), torch.tensor(columns).to(codes.device)
            )
            changed = method.decode(torch.where(chosen, codes.roll(1, 0), codes), given)
            back = method.decode(torch.where(chosen, codes, method.encode(changed, given)), given)
            totals += torch.stack([(back - decoded).square().sum(), (changed - decoded).square().sum()])
        return totals[None]

    left, made = sample.over_batches(changes).sum(0)
    return Undone(float(1 - left / made) if made > 0 else 1.0, sample.size)


MODEL_METRICS = (reconstruction, background_reconstruction, kl, inversion, undone)
