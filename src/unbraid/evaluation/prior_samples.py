"""Scores of observations that the model generates: samples from the prior, decoded."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.evaluation.sample import Sample
from unbraid.methods import HasBackgroundCodes, HasPosterior
from unbraid.metrics import SampleQuality, sample_quality
from unbraid.seeds import derive_seed

Decoder = Callable[[Tensor, Tensor | None], Tensor]  # from whole codes and condition to observations
MAX_OBSERVATIONS = 2_000
MIN_OBSERVATIONS = 8


class BackgroundSampleQuality(NamedTuple):
    score: float
    distance: float
    data_distance: float
    precision: float
    recall: float
    n_background: int
    neighbors: int

    higher_is_better = None
    bounds = (0.0, None)


def prior_samples(sample: Sample, decoder: Decoder) -> SampleQuality:
    """Mean distance of decoded prior samples to the nearest reconstruction of an observation, divided by that of
    reconstructions of other observations.

    Reconstructions stand for the data, because the decoder blurs both alike. They are decoded from samples of the
    posteriors, which the decoder was trained on, if the method has posteriors.
    """
    return _quality(sample, decoder, lambda codes: codes)


def background_prior_samples(sample: Sample, background: Sample, decoder: Decoder) -> BackgroundSampleQuality:
    """The same for the background: prior samples of the common strand, with salient codes zero if the method decodes
    the background this way."""
    method = sample.method
    change = method.background_codes if isinstance(method, HasBackgroundCodes) else lambda codes: codes
    return BackgroundSampleQuality(*_quality(background, decoder, change))


def _quality(sample: Sample, decoder: Decoder, change: Callable[[Tensor], Tensor]) -> SampleQuality:
    different = sample.shuffled(MAX_OBSERVATIONS, distinct=True)
    if different.size < MIN_OBSERVATIONS:
        raise ValueError(
            f"Scores of prior samples need at least {MIN_OBSERVATIONS} different observations; got {different.size}. "
            "Increase --num-samples."
        )
    reconstructed, generated = np.split(_decoded(different, decoder, change), 2, axis=1)
    half = different.size // 2
    return sample_quality(generated[half : 2 * half], reconstructed[:half], reconstructed[half : 2 * half])


def _decoded(
    sample: Sample, decoder: Decoder, change: Callable[[Tensor], Tensor]
) -> Float[np.ndarray, "n f"]:
    """One row per observation: its reconstruction, then a decoded sample of the prior."""
    method, device = sample.method, sample.method.step.device

    def decode(x: Tensor, condition: Tensor | None) -> Tensor:
        if isinstance(method, HasPosterior) and condition is None:
            known = method.posterior(x).sample()
        else:
            known = method.encode(x, condition)
        codes = known, method.sample_prior(len(x)).to(x)
        return torch.cat([decoder(change(each), condition).flatten(1) for each in codes], 1)

    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(derive_seed(sample.seed, "prior samples"))
        return sample.map_batches(decode)
