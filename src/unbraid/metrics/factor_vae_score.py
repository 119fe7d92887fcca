"""The FactorVAE score. Kim and Mnih, 2018, Disentangling by Factorizing, arXiv:1802.05983, Sec. 4."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from unbraid.metrics.arrays import varying
from unbraid.metrics.encodings import EncodeFactors, Encodings, FactorGridSample, protocol_with

CHUNK = 1 << 13  # number of votes computed at once


class Protocol(NamedTuple):
    """The sample sizes of a protocol; `images` is the size of the `FactorGridSample`, 0 without one."""

    votes: int
    test_votes: int
    size: int
    variance_samples: int
    min_std: float
    images: int = 0


PROTOCOLS = {
    "disentanglement_lib": Protocol(10_000, 5_000, 64, 10_000, 0.05),
    "infogan_cr": Protocol(500, 0, 100, 73_728, 0.0),
    "grid": Protocol(40_000, 20_000, 64, 0, 0.05, images=1 << 16),
}


class FactorVAEScore(NamedTuple):
    score: float  # test accuracy of the majority vote; training accuracy without test votes
    train_score: float
    votes: Int[np.ndarray, "d k"]  # number of training votes of each dimension for each factor
    active: Bool[np.ndarray, " d"]  # dimensions that may be voted for
    std: Float[np.ndarray, " d"]  # of each dimension over all factor combinations
    n_votes: int
    n_test_votes: int
    size: int  # number of observations per vote
    encoded: int  # number of encoded images; 0 if a table of codes was passed
    protocol: str

    higher_is_better = True
    bounds = (0.0, 1.0)


def factor_vae_score(
    encode_factors: EncodeFactors,
    factor_space: object,
    *,
    rng: np.random.Generator,
    protocol: str = "disentanglement_lib",
    votes: int | None = None,
    test_votes: int | None = None,
    size: int | None = None,
    min_std: float | None = None,
    images: int | None = None,
    batch: int | None = None,
) -> FactorVAEScore:
    r"""Accuracy of predicting the fixed factor from the dimension with the least variance.

    For a vote, `size` factor combinations that share the value of one random factor are sampled and encoded; the
    vote is for the dimension with the smallest relative variance. Each dimension predicts the factor for which it has
    the most votes.

    .. math:: vote = \arg\min_j Var_{fixed}(z_j) / Var(z_j)

    `encode_factors` maps factor combinations (n, k) to codes (n, d), or is the table of codes of the whole grid
    (product of sizes, d), last factor fastest. `factor_space` lists the sizes of the factors, or has them as
    `.sizes`. `encode_factors` receives `batch` combinations at a time; None is its own attribute `batch`, or 64.
    Dimensions whose standard deviation over the space is below `min_std` are excluded, because a constant dimension
    always has the smallest variance. If all dimensions are excluded, the score is 0.

    - `disentanglement_lib`: 10,000 training votes and 5,000 test votes from 64 samples each, and
      10,000 samples for Var(z_j); min_std 0.05. It samples 970,000 images; each distinct one is
      encoded once.
    - `infogan_cr`: 500 votes from 100 samples each for both training and testing; 73,728 samples (a tenth of
      dSprites) for Var(z_j). Only constant dimensions are excluded.
    - `grid`: 65,536 `images`, every value of every factor equally often, are encoded once, and all votes
      use samples of them: four times as many votes as in `disentanglement_lib`, at little extra cost.
    """
    config = protocol_with(
        PROTOCOLS,
        protocol,
        votes=votes,
        test_votes=test_votes,
        size=size,
        min_std=min_std,
        images=images,
    )
    if config.votes < 1 or config.test_votes < 0 or config.size < 2:
        raise ValueError(
            "a FactorVAE score needs votes >= 1, test_votes >= 0 and size >= 2; "
            f"got {config.votes}, {config.test_votes} and {config.size}."
        )
    encodings = Encodings(encode_factors, factor_space, batch)
    fixed = rng.integers(len(encodings.sizes), size=config.votes + config.test_votes)
    if config.images:
        grid = FactorGridSample(encodings.sizes, config.images, rng)
        groups, variance_indices = _groups_from_grid(grid, fixed, config.size, rng), grid.indices
        codes, (rows,) = encodings.encode([variance_indices])
        groups = rows[groups]
    else:
        groups = _groups(encodings, fixed, config.size, rng)
        variance_indices = rng.integers(encodings.num_combinations, size=config.variance_samples)
        codes, (groups, rows) = encodings.encode([groups, variance_indices])
    variance = codes[rows].var(axis=0, ddof=1)
    std = np.sqrt(variance)
    active = (std >= config.min_std) & varying(codes[rows])  # a constant may have variance by rounding
    voted_dims = _voted_dims(codes, groups, variance, active)
    vote_counts = np.zeros((codes.shape[1], len(encodings.sizes)), dtype=np.int64)
    score = train_score = 0.0
    if active.any():
        train, test = slice(None, config.votes), slice(config.votes, None)
        np.add.at(vote_counts, (voted_dims[train], fixed[train]), 1)
        correct = vote_counts.argmax(axis=1)[voted_dims] == fixed
        train_score = float(correct[train].mean())
        score = float(correct[test].mean()) if config.test_votes else train_score
    return FactorVAEScore(
        score=score,
        train_score=train_score,
        votes=vote_counts,
        active=active,
        std=std,
        n_votes=config.votes,
        n_test_votes=config.test_votes,
        size=config.size,
        encoded=encodings.encoded,
        protocol=protocol,
    )


def _groups(
    encodings: Encodings, fixed: Int[np.ndarray, " v"], size: int, rng: np.random.Generator
) -> Int[np.ndarray, "v s"]:
    """Indices of random combinations, in groups that share the value of their fixed factor."""
    indices = np.zeros((len(fixed), size), dtype=np.int64)
    for factor, (count, stride) in enumerate(zip(encodings.sizes, encodings.strides, strict=True)):
        values = rng.integers(count, size=indices.shape)
        same = fixed == factor
        values[same] = values[same, :1]
        indices += stride * values
    return indices


def _groups_from_grid(
    grid: FactorGridSample, fixed: Int[np.ndarray, " v"], size: int, rng: np.random.Generator
) -> Int[np.ndarray, "v s"]:
    """Like `_groups`, but returns row numbers in the grid sample instead of indices of combinations."""
    groups = np.zeros((len(fixed), size), dtype=np.int64)
    for factor, counts in enumerate(grid.counts):
        same = np.flatnonzero(fixed == factor)
        values = rng.integers(len(counts), size=len(same))
        groups[same] = grid.sample_groups(factor, values, size, rng)
    return groups


def _voted_dims(
    codes: Float[np.ndarray, "rows d"],
    groups: Int[np.ndarray, "v s"],
    variance: Float[np.ndarray, " d"],
    active: Bool[np.ndarray, " d"],
) -> Int[np.ndarray, " v"]:
    """The active dimension with the smallest relative variance in each group."""
    if not active.any():
        return np.zeros(len(groups), dtype=np.int64)
    active_dims = np.flatnonzero(active)
    scaled = codes[:, active_dims] / np.sqrt(variance[active_dims])
    scaled -= scaled.mean(axis=0)
    voted = []
    for start in range(0, len(groups), CHUNK):
        group_codes = scaled[groups[start : start + CHUNK]]
        mean = group_codes.mean(axis=1)
        square = np.einsum("vsd,vsd->vd", group_codes, group_codes) / groups.shape[1]
        voted.append((square - mean * mean).argmin(axis=1))
    return active_dims[np.concatenate(voted)]
