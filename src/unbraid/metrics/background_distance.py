"""Distance between background and target codes, and between two halves of the target for comparison. Towards Principled
Objectives for Contrastive Disentanglement, 2020, Eq. 9 and Sec. 4."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.w2 import w2


class BackgroundDistance(NamedTuple):
    score: float  # mean squared W2 between batches of target and background, the paper's L_W2
    halves: float  # mean squared W2 between batches of two halves of the target
    ratio: (
        float  # score / halves: 1 if both have the same distribution, independent of the scale of the codes
    )
    means: float  # score, halves and ratio of the posterior means
    means_halves: float
    means_ratio: float
    batch: int
    batches: int
    n: int
    protocol: str

    higher_is_better = None
    bounds = (0.0, None)
    undirected = ("halves", "means_halves")
    lower_is_better_in = ("common",)


def background_distance(
    codes: np.ndarray,
    background_codes: np.ndarray,
    *,
    rng: np.random.Generator,
    sampled_codes: np.ndarray | None = None,
    background_sampled_codes: np.ndarray | None = None,
    batch: int = 128,
    batches: int = 40,
) -> BackgroundDistance:
    """Squared Wasserstein distance between batches of target and background codes.

    Two batches of one distribution have a distance above 0 that depends on the scale of the codes. Therefore only
    `ratio`, relative to two halves of the target, compares methods. The score uses codes sampled from the posteriors,
    as the loss of the paper does, or the means if the method has no posterior.
    """
    means = as_codes(codes), as_codes(background_codes, name="background_codes", columns=codes.shape[1])
    if batch < 2 or batches < 1:
        raise ValueError(f"batch must be at least 2 and batches at least 1; got {batch} and {batches}.")
    size = min(batch, len(means[0]) // 2, len(means[1]))
    if size < 2:
        raise ValueError(
            f"background_distance needs at least 4 target and 2 background samples; got {len(means[0])} "
            f"and {len(means[1])}."
        )
    sampled = means
    if sampled_codes is not None and background_sampled_codes is not None:
        sampled = (
            as_codes(sampled_codes, name="sampled_codes", samples=len(means[0])),
            as_codes(background_sampled_codes, name="background_sampled_codes", samples=len(means[1])),
        )
    rows = [_rows(rng, len(means[0]), len(means[1]), size) for _ in range(batches)]
    distances = [[_between(tables, triple) for triple in rows] for tables in (sampled, means)]
    (apart, halves), (means_apart, means_halves) = np.mean(distances, axis=1)
    return BackgroundDistance(
        score=float(apart),
        halves=float(halves),
        ratio=distance_ratio(apart, halves),
        means=float(means_apart),
        means_halves=float(means_halves),
        means_ratio=distance_ratio(means_apart, means_halves),
        batch=size,
        batches=batches,
        n=len(means[0]),
        protocol=f"{batches} batches of {size}",
    )


def _rows(rng: np.random.Generator, target: int, background: int, size: int) -> tuple[np.ndarray, ...]:
    """Row indices of two disjoint target batches and of one background batch."""
    chosen = rng.permutation(target)
    return chosen[:size], chosen[size : 2 * size], rng.permutation(background)[:size]


def _between(
    codes: tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "m d"]], rows: tuple[np.ndarray, ...]
) -> tuple[float, float]:
    """Distances of the first target batch from the background batch and from the second target batch."""
    target, background = codes
    first = target[rows[0]]
    return w2(first, background[rows[2]]).score, w2(first, target[rows[1]]).score


def distance_ratio(apart: float, halves: float) -> float:
    """apart / halves; 1 if both are 0, as for constant codes."""
    return float(apart / halves) if halves > 0 else float("inf") if apart > 0 else 1.0
