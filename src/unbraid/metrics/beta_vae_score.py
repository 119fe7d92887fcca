"""The β-VAE score. Higgins et al., 2017, β-VAE: Learning Basic Visual Concepts with a Constrained Variational
Framework, ICLR, Sec. 3."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from sklearn.linear_model import LogisticRegression

from unbraid.metrics.encodings import EncodeFactors, Encodings, FactorGridSample, protocol_with

CHUNK = 1 << 13  # number of differences computed at once


class Protocol(NamedTuple):
    """The sample sizes of a protocol; `images` is the size of the `FactorGridSample`, 0 without one."""

    differences: int
    test_differences: int
    pairs: int
    images: int = 0


PROTOCOLS = {
    "disentanglement_lib": Protocol(10_000, 5_000, 64),
    "infogan_cr": Protocol(500, 0, 50),
    "grid": Protocol(10_000, 20_000, 64, images=1 << 15),
}


class BetaVAEScore(NamedTuple):
    score: float  # test accuracy of the classifier; training accuracy without test differences
    train_score: float
    mean_difference: Float[np.ndarray, "k d"]  # mean difference of each dimension, per shared factor
    n_differences: int
    n_test_differences: int
    pairs: int  # number of pairs that a difference is averaged over
    encoded: int  # number of encoded images; 0 if a table of codes was passed
    protocol: str

    higher_is_better = True
    bounds = (0.0, 1.0)


def beta_vae_score(
    encode_factors: EncodeFactors,
    factor_space: object,
    *,
    rng: np.random.Generator,
    protocol: str = "disentanglement_lib",
    differences: int | None = None,
    test_differences: int | None = None,
    pairs: int | None = None,
    images: int | None = None,
    batch: int | None = None,
) -> BetaVAEScore:
    r"""Accuracy of a linear classifier that predicts which factor two images share.

    .. math:: z_{diff} = 1/L \sum_l |z_{l,1} - z_{l,2}|

    The difference z_diff is the mean over L = `pairs` pairs of factor combinations that share the value of one random
    factor; the value differs between the pairs. The classifier is scikit-learn's logistic regression.
    `encode_factors` and `factor_space` are those of `factor_vae_score`. Constant dimensions have no effect. Several
    dimensions may encode one factor without lowering the score, so a high score does not imply one dimension per
    factor.

    - `disentanglement_lib`: 10,000 training differences and 5,000 test differences, 64 pairs each. It
      samples 1.92 million images; each distinct one is encoded once.
    - `infogan_cr`: 500 differences of 50 pairs for both training and testing.
    - `grid`: 32,768 `images`, every value of every factor equally often, are encoded once, and all pairs
      use samples of them: four times as many test differences as in `disentanglement_lib`.
    """
    config = protocol_with(
        PROTOCOLS,
        protocol,
        differences=differences,
        test_differences=test_differences,
        pairs=pairs,
        images=images,
    )
    if config.differences < 1 or config.test_differences < 0 or config.pairs < 1:
        raise ValueError(
            "a β-VAE score needs differences >= 1, test_differences >= 0 and pairs >= 1; "
            f"got {config.differences}, {config.test_differences} and {config.pairs}."
        )
    encodings = Encodings(encode_factors, factor_space, batch)
    shared = rng.integers(len(encodings.sizes), size=config.differences + config.test_differences)
    train, test = slice(None, config.differences), slice(config.differences, None)
    if len(np.unique(shared[train])) < 2:
        raise ValueError(
            f"the {config.differences} training differences all share the same factor. Increase differences."
        )
    if config.images:
        grid = FactorGridSample(encodings.sizes, config.images, rng)
        left, right = _pairs_from_grid(grid, shared, config.pairs, rng)
        codes, (rows,) = encodings.encode([grid.indices])
        left, right = rows[left], rows[right]
    else:
        left, right = _pairs(encodings, shared, config.pairs, rng)
        codes, (left, right) = encodings.encode([left, right])
    distance = np.concatenate(
        [
            np.abs(codes[left[start : start + CHUNK]] - codes[right[start : start + CHUNK]]).mean(axis=1)
            for start in range(0, len(shared), CHUNK)
        ]
    )
    classifier = LogisticRegression(max_iter=1000).fit(distance[train], shared[train])
    correct = classifier.predict(distance) == shared
    train_score = float(correct[train].mean())
    means = [distance[shared == k].mean(axis=0) for k in range(len(encodings.sizes)) if (shared == k).any()]
    return BetaVAEScore(
        score=float(correct[test].mean()) if config.test_differences else train_score,
        train_score=train_score,
        mean_difference=np.array(means),
        n_differences=config.differences,
        n_test_differences=config.test_differences,
        pairs=config.pairs,
        encoded=encodings.encoded,
        protocol=protocol,
    )


def _pairs(
    encodings: Encodings, shared: Int[np.ndarray, " v"], pairs: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "v p"], Int[np.ndarray, "v p"]]:
    """Indices of random pairs of combinations that share the value of their factor."""
    left = np.zeros((len(shared), pairs), dtype=np.int64)
    right = np.zeros_like(left)
    for factor, (count, stride) in enumerate(zip(encodings.sizes, encodings.strides, strict=True)):
        one, other = (rng.integers(count, size=left.shape) for _ in range(2))
        same = shared == factor
        other[same] = one[same]
        left += stride * one
        right += stride * other
    return left, right


def _pairs_from_grid(
    grid: FactorGridSample, shared: Int[np.ndarray, " v"], pairs: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "v p"], Int[np.ndarray, "v p"]]:
    """Like `_pairs`, but returns row numbers in the grid sample instead of indices of combinations."""
    left = rng.integers(len(grid.indices), size=(len(shared), pairs))
    right = np.zeros_like(left)
    for factor in range(len(grid.counts)):
        same = shared == factor
        right[same] = grid.sample_with_value(factor, grid.values[left[same], factor], rng)
    return left, right
