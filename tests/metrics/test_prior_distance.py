"""How far codes are from the prior, src/unbraid/metrics/prior_distance.py."""

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics import prior_distance


def normal(n: int, d: int, *, seed: int = 1, scale: float = 1.0) -> np.ndarray:
    return scale * np.random.default_rng(seed).standard_normal((n, d))


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_codes_of_the_prior_have_its_calibrated_distance() -> None:
    """4.49 between two batches of 128 from N(0, I) in 8 dimensions."""
    result = prior_distance(normal(2000, 8), rng=rng())
    for distance in (result.score, result.prior, result.halves):
        assert abs(distance - 4.49) < 0.15
    assert abs(result.ratio - 1) < 0.05 and abs(result.width - 1) < 0.05
    assert (result.n, result.protocol) == (2000, "40 batches of 128")


def test_narrow_codes_are_far_from_the_prior_and_near_each_other() -> None:
    """Between N(0, 0.01 I) and N(0, I) the squared distance is 0.81 per dimension, plus what samples add."""
    wide, narrow = (prior_distance(normal(2000, 8, scale=scale), rng=rng()) for scale in (1.0, 0.1))
    assert_close(narrow.width / wide.width, 0.01, rtol=1e-6, atol=0)
    assert narrow.score > 8 * 0.81 and narrow.ratio > 1.4
    assert narrow.prior == wide.prior


def test_samples_of_the_posterior_count_where_there_are_any() -> None:
    means = normal(600, 2, scale=0.1)
    sampled = means + normal(600, 2, seed=3)
    assert prior_distance(means, rng=rng(), sampled_codes=sampled) == prior_distance(sampled, rng=rng())
    assert prior_distance(means, rng=rng()).width < 0.02


def test_few_samples_make_smaller_batches_and_too_few_are_refused() -> None:
    assert prior_distance(normal(20, 2), rng=rng()).batch == 10
    with pytest.raises(ValueError, match="needs at least 4 samples; got 3"):
        prior_distance(normal(3, 2), rng=rng())
    with pytest.raises(ValueError, match="batch must be at least 2"):
        prior_distance(normal(30, 2), rng=rng(), batch=1)
