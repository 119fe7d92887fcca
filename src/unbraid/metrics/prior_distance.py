"""Distance between codes and the prior: the W2 distance of Towards Principled Objectives for Contrastive
Disentanglement, 2020, Eq. 9, to samples of N(0, I). Wasserstein autoencoders minimize such a distance (Tolstikhin et
al., 2018, arXiv:1711.01558)."""

from typing import NamedTuple

import numpy as np

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.background_distance import distance_ratio
from unbraid.metrics.w2 import w2


class PriorDistance(NamedTuple):
    score: float  # mean squared W2 between a batch of codes and a batch of prior samples
    prior: float  # mean squared W2 between two batches of prior samples
    ratio: float  # score / prior: 1 if the codes have the distribution of the prior
    halves: float  # mean squared W2 between two batches of codes
    width: float  # halves / prior: 1 if the codes are as wide as the prior, below 1 if they are narrower
    batch: int
    batches: int
    n: int
    protocol: str

    higher_is_better = None
    bounds = (0.0, None)


def prior_distance(
    codes: np.ndarray,
    *,
    rng: np.random.Generator,
    sampled_codes: np.ndarray | None = None,
    batch: int = 128,
    batches: int = 40,
) -> PriorDistance:
    """Squared Wasserstein distance between batches of codes and of samples from the prior N(0, I).

    The codes are sampled from the posteriors if the method has posteriors: if the aggregate posterior is the prior, the
    decoder knows every sample of the prior.
    """
    rows = as_codes(codes if sampled_codes is None else sampled_codes)
    if batch < 2 or batches < 1:
        raise ValueError(f"batch must be at least 2 and batches at least 1; got {batch} and {batches}.")
    size = min(batch, len(rows) // 2)
    if size < 2:
        raise ValueError(f"prior_distance needs at least 4 samples; got {len(rows)}.")
    distances = []
    for _ in range(batches):
        first, second = rows[rng.permutation(len(rows))[: 2 * size]].reshape(2, size, -1)
        prior, other = rng.standard_normal((2, size, rows.shape[1]))
        distances.append([w2(first, prior).score, w2(prior, other).score, w2(first, second).score])
    score, between_priors, halves = map(float, np.mean(distances, axis=0))
    return PriorDistance(
        score=score,
        prior=between_priors,
        ratio=distance_ratio(score, between_priors),
        halves=halves,
        width=distance_ratio(halves, between_priors),
        batch=size,
        batches=batches,
        n=len(rows),
        protocol=f"{batches} batches of {size}",
    )
