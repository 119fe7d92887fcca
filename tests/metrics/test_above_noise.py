"""Dimensions that vary more than noise, src/unbraid/metrics/above_noise.py."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unbraid.metrics import above_noise


def pair(stds: list[float], noise: list[float], n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Codes with these standard deviations, and with noise of these added."""
    rng = np.random.default_rng(0)
    codes = rng.standard_normal((n, len(stds))) * stds
    return codes, codes + rng.standard_normal(codes.shape) * noise


def test_dimensions_count_by_their_own_noise() -> None:
    """The widest dimension is mostly noise, and the narrowest stands thirty times above its noise."""
    found = above_noise(*pair([9.0, 1.0, 0.3, 0.05], [3.0, 0.02, 0.01, 0.01]))
    assert found.score == 2.0 and found.order.tolist() == [1, 2, 3, 0]
    assert_allclose(found.ratios, [50, 30, 5, 3], rtol=0.05)


def test_another_multiple_can_be_read_off_the_ratios() -> None:
    codes, noisy = pair([1.0, 1.0, 1.0, 1.0], [0.01, 0.08, 0.15, 0.5])
    for multiple, count in ((1.0, 4), (5.0, 3), (10.0, 2), (50.0, 1), (500.0, 0)):
        found = above_noise(codes, noisy, multiple=multiple)
        assert found.score == count == (found.ratios > multiple).sum()


def test_scales_and_shifts_do_not_matter() -> None:
    codes, noisy = pair([2.0, 0.1], [0.01, 0.01])
    scaled = above_noise(codes * [1e-3, 50] + 7, noisy * [1e-3, 50] + 7)
    assert_allclose(scaled.ratios, above_noise(codes, noisy).ratios, rtol=1e-6)


def test_still_dimensions_do_not_count_and_noiseless_ones_do() -> None:
    codes = np.column_stack([np.arange(5.0), np.zeros(5), np.zeros(5)])
    found = above_noise(codes, codes + np.array([0, 0, 1]))
    assert found.score == 1.0 and found.ratios.tolist() == [np.inf, 0.0, 0.0]


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="noisy_codes"):
        above_noise(np.zeros((5, 2)), np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"multiple must be positive; got 0\.0"):
        above_noise(np.zeros((5, 2)), np.zeros((5, 2)), multiple=0.0)
