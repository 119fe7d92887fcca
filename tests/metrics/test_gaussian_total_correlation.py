"""Gaussian total correlation, src/unbraid/metrics/gaussian_total_correlation.py."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from unbraid.metrics import gaussian_total_correlation


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_from_the_covariance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.standard_normal((100, 4)) @ rng.standard_normal((4, 4))
    covariance = np.cov(codes.T)
    slow = 0.5 * (np.log(np.diag(covariance)).sum() - np.linalg.slogdet(covariance)[1])
    assert_close(gaussian_total_correlation(codes).score, float(slow), rtol=1e-6, atol=1e-8)


def test_two_codes_by_hand() -> None:
    """Correlation ρ = 0.6: -½ log(1 - 0.36) = 0.2231 nats, whatever the scales and a dead code."""
    noise = np.column_stack([np.ones(50), np.random.default_rng(0).standard_normal((50, 2))])
    _, a, b = np.linalg.qr(noise)[0].T
    codes = np.column_stack([3 * a + 7, 100 * (0.6 * a + 0.8 * b), np.full(50, 0.1)])
    result = gaussian_total_correlation(codes)
    assert_close(result.score, -0.5 * math.log(0.64))
    assert result.varying.tolist() == [True, True, False]
    assert type(result.score) is float


def test_duplicated_codes_share_infinitely_many_nats() -> None:
    codes = np.random.default_rng(0).standard_normal((50, 2))
    assert gaussian_total_correlation(np.column_stack([codes, codes])).score == math.inf


def test_the_stated_bias() -> None:
    """Independent codes: d (d - 1) / 4n on average; 10 codes and 500 samples give 0.045."""
    rng = np.random.default_rng(0)
    scores = [gaussian_total_correlation(rng.standard_normal((500, 10))).score for _ in range(100)]
    assert_close(float(np.mean(scores)), 0.045, rtol=0.1, atol=0.0)


def test_it_is_blind_to_a_rotation_of_independent_codes() -> None:
    """Which is why Appendix A.1's entangled code must be caught by metrics that know the factors."""
    codes = np.random.default_rng(0).standard_normal((20_000, 2))
    turn = np.array([[1.0, 1.0], [-1.0, 1.0]]) / math.sqrt(2)
    assert gaussian_total_correlation(codes).score < 1e-3
    assert gaussian_total_correlation(codes @ turn).score < 1e-3


def test_bad_input_gets_one_sentence() -> None:
    with pytest.raises(ValueError, match="all codes are constant"):
        gaussian_total_correlation(np.ones((4, 2)))
    with pytest.raises(ValueError, match="needs more samples than codes; got 3"):
        gaussian_total_correlation(np.random.default_rng(0).standard_normal((3, 4)))
