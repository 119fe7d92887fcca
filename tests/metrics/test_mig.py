"""Mutual information gap, src/unbraid/metrics/mig.py."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score
from torch.testing import assert_close

from tests.metrics.common_cases import CommonCase
from unbraid.metrics import mig

COMMON = [
    CommonCase("mig", mig, constant=0, duplicated=0, random=0.02, entangled=0.1),
    CommonCase(
        "mig, equal frequency",
        lambda codes, factors: mig(codes, factors, binning="equal_frequency"),
        constant=0,
        duplicated=0,
        random=0.02,
        entangled=0.1,
    ),
]

BITS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def slow_mig(codes: np.ndarray, factors: np.ndarray, bins: int) -> float:
    """Factor by factor, with scikit-learn's information of NumPy's histogram bins."""
    gaps = []
    for v in factors.T:
        known = []
        for z in codes.T:
            binned = np.digitize(z, np.histogram(z, bins)[1][:-1])
            known.append(mutual_info_score(binned, v))
        first, second = sorted(known, reverse=True)[:2]
        gaps.append((first - second) / mutual_info_score(v, v))
    return float(np.mean(gaps))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), bins=st.integers(2, 25))
def test_factor_by_factor(seed: int, bins: int) -> None:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, [2, 5, 9], (200, 3))
    factors[:2] = [[0, 0, 0], [1, 1, 1]]
    codes = factors @ rng.standard_normal((3, 4)) + rng.standard_normal((200, 4))
    assert_close(mig(codes, factors, bins=bins).score, slow_mig(codes, factors, bins), rtol=0, atol=1e-9)


def test_by_hand() -> None:
    """Codes: the first bit, and the sum of both. The sum knows log 2 / 2 of each bit.

    Bit 0: (log 2 - ½ log 2) / log 2 = ½; bit 1: only the sum knows it, ½ again. RMIG = ½ log 2.
    JEMMIG in 4 bins: bit 0 has H(z*, v) = log 2, gap ½ log 2: 1 - ½ / (1 + 2) = 5/6. Bit 1 has
    H(z*, v) = (1.5 + 1 - 0.5) log 2, gap ½: 1 - 1.5 / 3 = ½. Mean 2/3.
    """
    codes = np.column_stack([BITS[:, 0], BITS.sum(axis=1)]).astype(float)
    result = mig(codes, BITS, bins=4)
    assert_close(result.per_factor, np.array([0.5, 0.5]))
    assert_close(result.score, 0.5)
    assert_close(result.rmig, math.log(2) / 2)
    assert_close(result.jemmig, 2 / 3)
    assert (result.n, result.bins, result.binning) == (4, 4, "equal_width")


def test_forty_values_in_twenty_bins() -> None:
    """A perfect code of 40 equally frequent values keeps log 20 of its log 40 nats."""
    factors = np.indices((40, 3)).reshape(2, -1).T
    result = mig(factors.astype(float), factors)
    assert_close(result.per_factor, np.array([math.log(20) / math.log(40), 1.0]))


def test_monotone_maps_change_nothing_with_equal_frequency() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 5, (500, 2))
    codes = factors + rng.standard_normal((500, 2))
    straight = mig(codes, factors, binning="equal_frequency").score
    assert_close(mig(np.exp(codes), factors, binning="equal_frequency").score, straight)


def test_fewer_samples_than_bins() -> None:
    """Five samples in twenty bins: every injective code knows all there is, so there is no gap."""
    rng = np.random.default_rng(0)
    assert_close(mig(rng.permutation(5)[:, None] * [1.0, -2.0], np.arange(5)[:, None]).score, 0.0)


def test_one_code_gets_one_sentence() -> None:
    with pytest.raises(ValueError, match="MIG compares two dimensions per factor"):
        mig(np.zeros((4, 1)), BITS)


def test_a_shuffled_order_of_factors_is_not_silently_near_zero() -> None:
    """The columns may come in any order; the rows may not, and then the score says so."""
    factors = np.tile(np.indices((4, 5)).reshape(2, -1).T, (20, 1))
    codes = factors.astype(float)
    assert_close(mig(codes, factors[:, ::-1]).score, 1.0)
    assert mig(codes, np.random.default_rng(0).permutation(factors)).score < 0.05
