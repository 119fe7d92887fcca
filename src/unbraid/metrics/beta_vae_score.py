"""The β-VAE score. Higgins et al., 2017, β-VAE: Learning Basic Visual Concepts with a Constrained Variational
Framework, ICLR, Sec. 3."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from sklearn.linear_model import LogisticRegression

from unbraid.metrics.encodings import Design, Encodings, Represent, as_images

CHUNK = 1 << 13  # differences averaged at once


class Protocol(NamedTuple):
    """The sample sizes of a protocol; `images` is the size of `grid`'s sample of the space, 0 elsewhere."""

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
    mean_difference: Float[np.ndarray, "k d"]  # of each code while each factor is shared
    n_differences: int
    n_test_differences: int
    pairs: int  # over which a difference is averaged
    encoded: int  # images that were encoded; 0 when a table of codes was given
    protocol: str


def beta_vae_score(
    represent: Represent,
    space: object,
    *,
    rng: np.random.Generator,
    protocol: str = "disentanglement_lib",
    differences: int | None = None,
    test_differences: int | None = None,
    pairs: int | None = None,
    images: int | None = None,
    batch: int = 64,
) -> BetaVAEScore:
    r"""How well a linear classifier tells, from how codes differ, which factor two images share.

    .. math:: z_{diff} = 1/L \sum_l |z_{l,1} - z_{l,2}|

    over L = `pairs` pairs of factor combinations that share the value of one random factor, each pair its
    own value. The classifier is scikit-learn's logistic regression. `represent` and `space` are those of
    `factor_vae_score`. Constant codes do no harm here; two codes can share a factor without loss, so a
    high score does not promise one code a factor.

    - `disentanglement_lib`: 10,000 differences to learn from and 5,000 to score, 64 pairs each. It asks
      for 1.92 million images; each different one is encoded once.
    - `infogan_cr`: 500 differences of 50 pairs, scored on themselves.
    - `grid`: 32,768 `images`, every value of every factor equally often, are encoded once, and all pairs are
      drawn from them; four times the test differences of the first.
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol must be one of {', '.join(PROTOCOLS)}; got {protocol!r}.")
    given = {"differences": differences, "test_differences": test_differences, "pairs": pairs}
    given["images"] = as_images(images, protocol)
    plan = PROTOCOLS[protocol]._replace(**{name: v for name, v in given.items() if v is not None})
    if plan.differences < 1 or plan.test_differences < 0 or plan.pairs < 1:
        raise ValueError(
            "a β-VAE score needs differences >= 1, test_differences >= 0 and pairs >= 1; "
            f"got {plan.differences}, {plan.test_differences} and {plan.pairs}."
        )
    encodings = Encodings(represent, space, batch)
    shared = rng.integers(len(encodings.sizes), size=plan.differences + plan.test_differences)
    train, test = slice(None, plan.differences), slice(plan.differences, None)
    if len(np.unique(shared[train])) < 2:
        raise ValueError(
            f"the {plan.differences} differences to learn from all share one factor; ask for more of them."
        )
    if plan.images:
        design = Design(encodings.sizes, plan.images, rng)
        left, right = _pairs_of_design(design, shared, plan.pairs, rng)
        codes, (rows,) = encodings.encode([design.places])
        left, right = rows[left], rows[right]
    else:
        left, right = _pairs(encodings, shared, plan.pairs, rng)
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
        score=float(correct[test].mean()) if plan.test_differences else train_score,
        train_score=train_score,
        mean_difference=np.array(means),
        n_differences=plan.differences,
        n_test_differences=plan.test_differences,
        pairs=plan.pairs,
        encoded=encodings.encoded,
        protocol=protocol,
    )


def _pairs(
    encodings: Encodings, shared: Int[np.ndarray, " v"], pairs: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "v p"], Int[np.ndarray, "v p"]]:
    """Places of pairs of combinations that share the value of their factor."""
    left = np.zeros((len(shared), pairs), dtype=np.int64)
    right = np.zeros_like(left)
    for factor, (count, stride) in enumerate(zip(encodings.sizes, encodings.strides, strict=True)):
        one, other = (rng.integers(count, size=left.shape) for _ in range(2))
        same = shared == factor
        other[same] = one[same]
        left += stride * one
        right += stride * other
    return left, right


def _pairs_of_design(
    design: Design, shared: Int[np.ndarray, " v"], pairs: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "v p"], Int[np.ndarray, "v p"]]:
    """The same among the samples of a design, as their numbers in it."""
    left = rng.integers(len(design.places), size=(len(shared), pairs))
    right = np.zeros_like(left)
    for factor in range(len(design.counts)):
        same = shared == factor
        right[same] = design.sharing(factor, design.values[left[same], factor], rng)
    return left, right
