"""Mean correlation coefficient, src/unbraid/metrics/mcc.py."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from tests.metrics.common_cases import CommonCase
from unbraid.metrics import mcc

COMMON = [
    CommonCase("mcc", mcc, constant=0, duplicated=1, random=0.1, entangled=0.75),
    CommonCase(
        "mcc, spearman",
        lambda codes, factors: mcc(codes, factors, protocol="spearman"),
        constant=0,
        duplicated=1,
        random=0.1,
        entangled=0.75,
    ),
]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), codes=st.integers(3, 5))
def test_no_match_is_better(seed: int, codes: int) -> None:
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((40, 3))
    z = factors @ rng.standard_normal((3, codes))
    table = np.abs(np.corrcoef(z.T, factors.T)[:codes, codes:])
    best = max(sum(table[j, k] for k, j in enumerate(order)) for order in permutations(range(codes), 3))
    assert_close(mcc(z, factors).score, float(best) / 3, rtol=0, atol=1e-9)


def test_a_greedy_match_would_lose() -> None:
    """First code: 0.7 of a and 0.6 of b; second: 0.6 of a. Greedy takes 0.7 + 0, the best is 0.6 + 0.6."""
    noise = np.column_stack([np.ones(100), np.random.default_rng(0).standard_normal((100, 4))])
    a, b, c, d = np.linalg.qr(noise)[0].T[1:]  # orthonormal, and orthogonal to the constant
    first = 0.7 * a + 0.6 * b + np.sqrt(1 - 0.49 - 0.36) * c
    second = 0.6 * a + 0.8 * d
    result = mcc(np.column_stack([first, second]), np.column_stack([a, b]))
    assert_close(result.per_factor, np.array([0.6, 0.6]))
    assert result.match.tolist() == [1, 0]


def test_spearman_sees_through_monotone_maps_and_pearson_does_not() -> None:
    factors = np.random.default_rng(0).standard_normal((300, 2))
    codes = np.column_stack([-np.exp(3 * factors[:, 1]), factors[:, 0] ** 3])
    result = mcc(codes, factors, protocol="spearman")
    assert_close(result.score, 1.0)
    assert result.match.tolist() == [1, 0]
    assert (result.n, result.protocol) == (300, "spearman")
    assert mcc(codes, factors).score < 0.9


def test_fewer_codes_than_factors() -> None:
    """The factor left without a code counts 0; spare codes cost nothing."""
    factors = np.indices((4, 5)).reshape(2, -1).T.astype(float)
    result = mcc(factors[:, :1], factors)
    assert_close(result.score, 0.5)
    assert result.match.tolist() == [0, -1]
    assert_close(mcc(np.column_stack([factors, factors.sum(axis=1)]), factors).score, 1.0)


def test_bad_input_gets_one_sentence() -> None:
    table = np.arange(8.0).reshape(4, 2)
    with pytest.raises(ValueError, match=r"factors must each take at least two values; columns \[1\]"):
        mcc(table, table * [1, 0])
    with pytest.raises(ValueError, match="protocol must be one of pearson, spearman; got 'rdc'"):
        mcc(table, table, protocol="rdc")
