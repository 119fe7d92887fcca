"""Bootstrap intervals, src/unbraid/metrics/bootstrap.py."""

from typing import NamedTuple

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics import bootstrap, mcc, probe


class Mean(NamedTuple):
    score: float


def mean(codes: np.ndarray, factors: np.ndarray) -> Mean:
    return Mean(float(codes.mean()))


def test_the_interval_of_a_mean() -> None:
    """Of 400 draws with deviation 1, a mean errs by 0.05: 95 % lies within 1.96 · 0.05 of it."""
    codes = np.random.default_rng(0).standard_normal((400, 1))
    codes = (codes - codes.mean()) / codes.std()
    result = bootstrap(mean, codes, np.zeros((400, 1), int), rng=np.random.default_rng(1), repeats=2000)
    assert_close(result.score, 0.0, rtol=0, atol=1e-12)
    assert_close(result.low, -0.098, rtol=0, atol=0.008)
    assert_close(result.high, 0.098, rtol=0, atol=0.008)
    assert result.scores.shape == (2000,)
    assert (result.n, result.level) == (400, 0.95)


def test_samples_and_factors_are_redrawn_together() -> None:
    """Codes equal to the factors stay so in every redrawn sample."""
    factors = np.random.default_rng(0).standard_normal((50, 2))
    result = bootstrap(mcc, -factors, factors, rng=np.random.default_rng(0), repeats=20, protocol="spearman")
    assert_close(result.low, 1.0)
    assert_close(result.high, 1.0)


def test_a_test_sample_is_what_is_redrawn() -> None:
    """A probe right on 75 of 100 test samples errs by √(0.75 · 0.25 / 100) = 0.0433 each way."""
    labels = np.repeat([0, 1], 50)
    codes = labels[:, None].astype(float)
    test_codes = codes.copy()
    test_codes[::4] = 1 - test_codes[::4]
    result = bootstrap(
        probe,
        codes,
        labels,
        rng=np.random.default_rng(0),
        repeats=200,
        level=0.68,
        test_codes=test_codes,
        test_labels=labels,
    )
    assert_close(result.score, 0.74, rtol=0, atol=0.011)
    assert_close(result.high - result.low, 2 * 0.0433, rtol=0, atol=0.03)
    assert result.n == 100


def test_same_seed_same_interval() -> None:
    codes = np.random.default_rng(0).standard_normal((30, 2))
    once, again = (bootstrap(mcc, codes, codes**3, rng=np.random.default_rng(5)) for _ in range(2))
    assert once[:3] == again[:3]


def test_bad_input_gets_one_sentence() -> None:
    codes, rng = np.zeros((4, 1)), np.random.default_rng(0)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        bootstrap(mean, codes, codes, rng=rng, level=95.0)
    with pytest.raises(ValueError, match="repeats must be at least 2"):
        bootstrap(mean, codes, codes, rng=rng, repeats=1)
