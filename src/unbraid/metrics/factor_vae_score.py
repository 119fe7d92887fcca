"""The FactorVAE score. Kim and Mnih, 2018, Disentangling by Factorising, arXiv:1802.05983, Sec. 4."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from unbraid.metrics.arrays import varying
from unbraid.metrics.encodings import Design, Encodings, Represent, as_images

CHUNK = 1 << 13  # votes cast at once


class Protocol(NamedTuple):
    """The sample sizes of a protocol; `images` is the size of `grid`'s sample of the space, 0 elsewhere."""

    votes: int
    test_votes: int
    size: int
    points: int
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
    votes: Int[np.ndarray, "d k"]  # training votes of each code for each factor
    active: Bool[np.ndarray, " d"]  # the codes that were allowed to vote
    std: Float[np.ndarray, " d"]  # of each code over the whole space
    n_votes: int
    n_test_votes: int
    size: int  # samples a vote is taken from
    encoded: int  # images that were encoded; 0 when a table of codes was given
    protocol: str


def factor_vae_score(
    represent: Represent,
    space: object,
    *,
    rng: np.random.Generator,
    protocol: str = "disentanglement_lib",
    votes: int | None = None,
    test_votes: int | None = None,
    size: int | None = None,
    min_std: float | None = None,
    images: int | None = None,
    batch: int = 64,
) -> FactorVAEScore:
    r"""How well the code that varies least tells which factor was held fixed.

    A vote draws `size` factor combinations that share the value of one random factor, encodes them and
    names the code of least relative variance. Each code predicts the factor it was most often named for.

    .. math:: vote = \arg\min_j Var_{fixed}(z_j) / Var(z_j)

    `represent` is a function from factor combinations (n, k) to codes (n, d), or the codes of the whole
    grid as a table of (product of sizes, d), last factor fastest. `space` lists the sizes of the factors,
    or has them as `.sizes`. `represent` is given `batch` combinations at a time: few suit a processor's
    cache, more a GPU. Codes whose standard deviation over the space is below `min_std` do not vote: a code
    that never moves would always have the least variance. Without codes left the score is 0.

    - `disentanglement_lib`: 10,000 votes to learn from and 5,000 to score, from 64 samples each, and
      10,000 samples for Var(z_j); min_std 0.05. It asks for 970,000 images; each different one is
      encoded once.
    - `infogan_cr`: 500 votes from 100 samples each, scored on themselves; 73,728 samples (a tenth of
      dSprites) for Var(z_j). Only constant codes are left out.
    - `grid`: 65,536 `images`, every value of every factor equally often, are encoded once, and everything is
      drawn from them; four times the votes of the first, which then cost nothing.
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol must be one of {', '.join(PROTOCOLS)}; got {protocol!r}.")
    given = {"votes": votes, "test_votes": test_votes, "size": size, "min_std": min_std}
    given["images"] = as_images(images, protocol)
    plan = PROTOCOLS[protocol]._replace(**{name: v for name, v in given.items() if v is not None})
    if plan.votes < 1 or plan.test_votes < 0 or plan.size < 2:
        raise ValueError(
            "a FactorVAE score needs votes >= 1, test_votes >= 0 and size >= 2; "
            f"got {plan.votes}, {plan.test_votes} and {plan.size}."
        )
    encodings = Encodings(represent, space, batch)
    fixed = rng.integers(len(encodings.sizes), size=plan.votes + plan.test_votes)
    if plan.images:
        design = Design(encodings.sizes, plan.images, rng)
        groups, everywhere = _groups_of_design(design, fixed, plan.size, rng), design.places
        codes, (rows,) = encodings.encode([everywhere])
        groups = rows[groups]
    else:
        groups = _groups(encodings, fixed, plan.size, rng)
        everywhere = rng.integers(encodings.places, size=plan.points)
        codes, (groups, rows) = encodings.encode([groups, everywhere])
    variance = codes[rows].var(axis=0, ddof=1)
    std = np.sqrt(variance)
    active = (std >= plan.min_std) & varying(codes[rows])  # rounding may leave a constant some variance
    named = _named(codes, groups, variance, active)
    table = np.zeros((codes.shape[1], len(encodings.sizes)), dtype=np.int64)
    score = train_score = 0.0
    if active.any():
        train, test = slice(None, plan.votes), slice(plan.votes, None)
        np.add.at(table, (named[train], fixed[train]), 1)
        right = table.argmax(axis=1)[named] == fixed
        train_score = float(right[train].mean())
        score = float(right[test].mean()) if plan.test_votes else train_score
    return FactorVAEScore(
        score=score,
        train_score=train_score,
        votes=table,
        active=active,
        std=std,
        n_votes=plan.votes,
        n_test_votes=plan.test_votes,
        size=plan.size,
        encoded=encodings.encoded,
        protocol=protocol,
    )


def _groups(
    encodings: Encodings, fixed: Int[np.ndarray, " v"], size: int, rng: np.random.Generator
) -> Int[np.ndarray, "v s"]:
    """Places of combinations in groups that share the value of their fixed factor."""
    places = np.zeros((len(fixed), size), dtype=np.int64)
    for factor, (count, stride) in enumerate(zip(encodings.sizes, encodings.strides, strict=True)):
        values = rng.integers(count, size=places.shape)
        same = fixed == factor
        values[same] = values[same, :1]
        places += stride * values
    return places


def _groups_of_design(
    design: Design, fixed: Int[np.ndarray, " v"], size: int, rng: np.random.Generator
) -> Int[np.ndarray, "v s"]:
    """The same among the samples of a design, as their numbers in it."""
    groups = np.zeros((len(fixed), size), dtype=np.int64)
    for factor, counts in enumerate(design.counts):
        same = np.flatnonzero(fixed == factor)
        values = rng.integers(len(counts), size=len(same))
        groups[same] = design.groups(factor, values, size, rng)
    return groups


def _named(
    codes: Float[np.ndarray, "rows d"],
    groups: Int[np.ndarray, "v s"],
    variance: Float[np.ndarray, " d"],
    active: Bool[np.ndarray, " d"],
) -> Int[np.ndarray, " v"]:
    """The active code of least relative variance in each group."""
    if not active.any():
        return np.zeros(len(groups), dtype=np.int64)
    alive = np.flatnonzero(active)
    scaled = codes[:, alive] / np.sqrt(variance[alive])
    scaled -= scaled.mean(axis=0)
    named = []
    for start in range(0, len(groups), CHUNK):
        drawn = scaled[groups[start : start + CHUNK]]
        mean = drawn.mean(axis=1)
        square = np.einsum("vsd,vsd->vd", drawn, drawn) / groups.shape[1]
        named.append((square - mean * mean).argmin(axis=1))
    return alive[np.concatenate(named)]
