"""Where a spectrum stops falling, src/unbraid/metrics/spectrum.py."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unbraid.metrics import spectrum


def codes(*spreads: float, n: int = 500) -> np.ndarray:
    """Codes with exactly these standard deviations."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((n, len(spreads)))
    return (z - z.mean(0)) / z.std(0) * np.array(spreads)


def test_two_wide_codes_among_ten() -> None:
    result = spectrum(codes(0.01, 3.0, 0.012, 0.009, 1.0, 0.01, 0.008, 0.01, 0.011, 0.01))
    assert result.score == 2.0 and result.order[:2].tolist() == [1, 4]
    assert_allclose(result.stds[:3], [3.0, 1.0, 0.012])
    assert_allclose(result.drop, 1.0 / 0.012)


def test_a_knee_after_a_slope() -> None:
    """Twenty codes that fall evenly from 2 to 0.2, then a long flat end."""
    spreads = np.concatenate([np.geomspace(2, 0.2, 20), np.geomspace(0.012, 0.01, 180)])
    assert spectrum(codes(*spreads)).score == 20.0


def test_a_knee_without_a_gap() -> None:
    """Twenty codes that fall by a tenth each, and then by a hundredth: a bend, though no code stands apart."""
    logs = -np.concatenate([0.1 * np.arange(20), 2.0 + 0.01 * np.arange(180)])
    result = spectrum(codes(*np.exp(logs)))
    assert result.score in (20.0, 21.0)  # the twenty-first lies on both lines
    assert_allclose(result.bend, 10.0, rtol=0.01)


def test_an_even_slope_has_no_bend() -> None:
    assert_allclose(spectrum(codes(*np.geomspace(1.0, 0.01, 100))).bend, 1.0, rtol=1e-6)


def test_a_code_near_the_flat_end_belongs_to_it() -> None:
    """The third lies farther above the end than the others, and still in the lower half of the fall."""
    assert spectrum(codes(1.9, 1.8, 0.04, 0.02, 0.018, 0.017, 0.016, 0.015, 0.014, 0.013)).score == 2.0


def test_one_wide_code() -> None:
    assert spectrum(codes(1.0, 0.01, 0.011, 0.009)).score == 1.0


def test_order_and_scale_do_not_matter() -> None:
    z = codes(2.0, 1.0, 0.02, 0.01, 0.015)
    order = np.random.default_rng(1).permutation(5)
    assert spectrum(z[:, order]).score == spectrum(7 * z).score == spectrum(z).score == 2.0


def test_few_or_still_codes() -> None:
    assert spectrum(codes(1.0, 0.5)).score == 2.0
    assert spectrum(np.zeros((5, 4))).score == 0.0
    assert spectrum(np.column_stack([codes(1.0, 0.9), np.zeros((500, 3))])).score == 2.0


def test_codes_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="codes"):
        spectrum(np.full((5, 3), np.nan))
