"""IRS, src/unbraid/metrics/irs.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tests.metrics.common_cases import CommonCase
from unbraid.metrics import irs

COMMON = [
    CommonCase("irs", irs, constant=0, duplicated=1, random=0.4, entangled=0.1, tolerance=1e-6),
]


def slow_irs(codes: np.ndarray, factors: np.ndarray, quantile: float) -> float:
    """The definition, one value of one factor at a time; factors of at most 20 values."""
    centered = np.abs(codes - codes.mean(axis=0)).max(axis=0)
    robustness = np.zeros((codes.shape[1], factors.shape[1]))
    for k in range(factors.shape[1]):
        worst = []
        for value in np.unique(factors[:, k]):
            group = codes[factors[:, k] == value]
            worst.append(np.quantile(np.abs(group - group.mean(axis=0)), quantile, axis=0))
        robustness[:, k] = 1 - np.mean(worst, axis=0) / centered
    return float(np.average(robustness.max(axis=1), weights=centered))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), quantile=st.sampled_from([0.0, 0.5, 0.99, 1.0]))
def test_equals_the_definition(seed: int, quantile: float) -> None:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, [2, 5, 15], (200, 3))
    codes = factors @ rng.standard_normal((3, 4)) + rng.standard_normal((200, 4))
    expected = slow_irs(codes, factors, quantile)
    assert_close(irs(codes, factors, quantile=quantile).score, expected, rtol=0, atol=1e-6)


def test_by_hand() -> None:
    """Code = factor + noise ±0.25 that the factor does not know: values 0, 1; mean 0.5.

    Within a value the code is 0.25 from its mean, at most 0.75 from the global one: 1 - 1/3.
    """
    factors = np.array([[0], [0], [1], [1]])
    codes = factors + np.array([[-0.25], [0.25], [-0.25], [0.25]])
    result = irs(codes, factors)
    assert_close(result.score, 2 / 3, rtol=0, atol=1e-6)
    assert_close(result.deviations, np.array([0.75]))


def test_codes_weigh_by_their_largest_deviation() -> None:
    """A robust code of spread 3 and one of spread 1 that no factor explains (IRS 0): 3/4."""
    factors = np.repeat([0, 1], 2)[:, None]
    codes = np.column_stack([6.0 * factors[:, 0], [1.0, -1.0, 1.0, -1.0]])
    result = irs(codes, factors)
    assert_close(result.score, 0.75, rtol=0, atol=1e-6)
    assert_close(result.per_dim, np.array([1.0, 0.0]), rtol=0, atol=1e-6)
    assert result.parents.tolist() == [0, 0]


def test_constant_codes_have_no_parent_and_no_weight() -> None:
    factors = np.repeat([0, 1], 10)[:, None]
    result = irs(np.column_stack([factors[:, 0], np.full(20, 5.0)]), factors)
    assert_close(result.score, 1.0)
    assert result.parents.tolist() == [0, -1]
    assert_close(irs(np.ones((20, 3)), factors).score, 0.0)


def test_factors_of_many_values_are_binned() -> None:
    """A hundred values in 20 bins of five: within a bin the code -2 … 2 is up to 2 from its mean.

    Center 49.5 to the end 0: 49.5. So 1 - 2/49.5 with the largest deviation.
    """
    factors = np.arange(100)[:, None]
    result = irs(factors.astype(float), factors, quantile=1.0)
    assert_close(result.score, 1 - 2 / 49.5, rtol=0, atol=1e-6)
    assert (result.n, result.bins, result.quantile) == (100, 20, 1.0)
    assert_close(irs(factors.astype(float), factors, bins=100).score, 1.0, rtol=0, atol=1e-6)


def test_an_offset_does_not_cost_precision() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (500, 2))
    codes = factors + rng.standard_normal((500, 2))
    assert_close(irs(codes + 1e6, factors).score, irs(codes, factors).score, rtol=0, atol=1e-6)


def test_quantile_out_of_range_gets_one_sentence() -> None:
    with pytest.raises(ValueError, match="quantile must be between 0 and 1; got 99"):
        irs(np.eye(4), np.arange(4)[:, None], quantile=99.0)
