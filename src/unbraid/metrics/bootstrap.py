"""Bootstrap intervals for the scores of one run. Efron and Tibshirani, 1993, An Introduction to the
Bootstrap, Ch. 13."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes


class Bootstrap(NamedTuple):
    score: float  # on the original sample
    low: float
    high: float
    level: float
    scores: Float[np.ndarray, " repeats"]
    n: int  # number of samples per repetition

    higher_is_better = None
    bounds = (None, None)


def bootstrap(
    metric: Callable[..., Any],
    codes: np.ndarray,
    factors: np.ndarray,
    *,
    rng: np.random.Generator,
    repeats: int = 200,
    level: float = 0.95,
    **arguments: Any,
) -> Bootstrap:
    """Bootstrap interval of a metric over resampled observations of one run.

    `metric` is any function of (codes, factors, **arguments) whose result has a `score`. The middle
    `level` share of its scores on samples drawn with replacement. When `arguments` hold a test sample
    (`test_codes` with `test_factors` or `test_labels`), the test sample is resampled, because the score is a
    mean over it. The interval does not cover other seeds or runs. Repeated samples raise estimates of information,
    and with them the intervals of MIG and similar metrics.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1; got {level}.")
    if repeats < 2:
        raise ValueError(f"repeats must be at least 2; got {repeats}.")
    codes = as_codes(codes)
    factors = np.asarray(factors)
    score = metric(codes, factors, **arguments).score
    tested = [name for name in ("test_codes", "test_factors", "test_labels") if name in arguments]
    n = len(arguments[tested[0]]) if tested else len(codes)
    scores = np.empty(repeats)
    for repeat in range(repeats):
        drawn = rng.integers(n, size=n)
        if tested:
            redrawn = arguments | {name: np.asarray(arguments[name])[drawn] for name in tested}
            scores[repeat] = metric(codes, factors, **redrawn).score
        else:
            scores[repeat] = metric(codes[drawn], factors[drawn], **arguments).score
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return Bootstrap(float(score), float(low), float(high), level, scores, n)
