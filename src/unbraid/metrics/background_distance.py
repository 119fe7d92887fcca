"""How far the background's codes lie from the target's. Towards Principled Objectives for Contrastive
Disentanglement, 2020, Eq. 9 and Sec. 4, and beside it what two halves of the target are apart."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.w2 import w2


class BackgroundDistance(NamedTuple):
    score: float  # mean squared W2 between batches of target and background: the paper's L_W2
    halves: float  # the same between batches of two halves of the target
    ratio: float  # score / halves: 1 where both are distributed alike, whatever the scale of the codes
    means: float  # the same three of the posterior means
    means_halves: float
    means_ratio: float
    batch: int
    batches: int
    n: int
    protocol: str


def background_distance(
    codes: np.ndarray,
    background_codes: np.ndarray,
    *,
    rng: np.random.Generator,
    drawn_codes: np.ndarray | None = None,
    background_drawn_codes: np.ndarray | None = None,
    batch: int = 128,
    batches: int = 40,
) -> BackgroundDistance:
    """Whether the background's codes are distributed as the target's: the squared W2 between batches of both.

    The distance of two batches of one distribution is not 0, and shrinks with the codes, so it is set beside
    that of two halves of the target; only their ratio compares methods. The score is of codes drawn from their
    posteriors, as the paper's loss; of the means where a method has no posterior.
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
    drawn = means
    if drawn_codes is not None and background_drawn_codes is not None:
        drawn = (
            as_codes(drawn_codes, name="drawn_codes", samples=len(means[0])),
            as_codes(background_drawn_codes, name="background_drawn_codes", samples=len(means[1])),
        )
    rows = [_rows(rng, len(means[0]), len(means[1]), size) for _ in range(batches)]
    found = [[_between(part, triple) for triple in rows] for part in (drawn, means)]
    (apart, halves), (means_apart, means_halves) = np.mean(found, axis=1)
    return BackgroundDistance(
        score=float(apart),
        halves=float(halves),
        ratio=_ratio(apart, halves),
        means=float(means_apart),
        means_halves=float(means_halves),
        means_ratio=_ratio(means_apart, means_halves),
        batch=size,
        batches=batches,
        n=len(means[0]),
        protocol=f"{batches} batches of {size}",
    )


def _rows(rng: np.random.Generator, target: int, background: int, size: int) -> tuple[np.ndarray, ...]:
    """Rows of two batches of the target without a common one, and of a batch of the background."""
    chosen = rng.permutation(target)
    return chosen[:size], chosen[size : 2 * size], rng.permutation(background)[:size]


def _between(
    codes: tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "m d"]], rows: tuple[np.ndarray, ...]
) -> tuple[float, float]:
    """The distance of the target's first batch from the background's, and from its own second."""
    target, background = codes
    first = target[rows[0]]
    return w2(first, background[rows[2]]).score, w2(first, target[rows[1]]).score


def _ratio(apart: float, halves: float) -> float:
    """Their quotient; codes that are all alike are no distance apart, and their ratio is 1."""
    return float(apart / halves) if halves > 0 else float("inf") if apart > 0 else 1.0
