"""Whether sets can tell axes apart, src/unbraid/metrics/std_rank.py."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unbraid.metrics import std_rank

NARROW = 0.001 * np.random.default_rng(0).standard_normal((1000, 8, 3))


def sets(spreads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sets of 8 with the given spreads and three narrow codes behind, and codes with that spectrum."""
    rng = np.random.default_rng(1)
    z = np.concatenate([spreads[:, None] * rng.standard_normal((1000, 8, spreads.shape[1])), NARROW], 2)
    return z, z.reshape(-1, z.shape[2])


def varying(columns: int) -> np.ndarray:
    return np.exp(np.random.default_rng(2).uniform(-1, 0, (1000, columns)))


def test_constant_spreads_have_rank_zero_whatever_they_are() -> None:
    for spread in ([1.0, 1.0], [1.0, 3.0]):
        result = std_rank(*sets(np.tile(spread, (1000, 1))))
        assert result.score == 0.0 and result.needed == 2.0 and abs(result.min_ratio) < 0.03


def test_independent_spreads_have_full_rank() -> None:
    """The logarithms are uniform on [-1, 0], of variance 1/12 each: their difference has 1/6."""
    result = std_rank(*sets(varying(2)))
    assert result.score == 2.0
    assert_allclose(result.min_ratio, 1 / 6, atol=0.03)
    assert_allclose(result.eigenvalues, [1 / 12, 1 / 12], atol=0.03)


def test_spreads_in_one_ratio_have_rank_one_and_tell_nothing_apart() -> None:
    result = std_rank(*sets(varying(1).repeat(2, 1)))
    assert result.score == 1.0 and abs(result.min_ratio) < 0.03


def test_two_of_three_may_vary_together() -> None:
    result = std_rank(*sets(varying(2)[:, [0, 0, 1]]))
    assert result.score == 2.0 and result.needed == 3.0
    assert abs(result.min_ratio) < 0.04 and result.ratios.max() > 0.1


def test_bad_sets_are_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 2 sets of 3 members; got \(5, 2, 3\)"):
        std_rank(np.zeros((5, 2, 3)), np.zeros((5, 3)))
    with pytest.raises(ValueError, match="set_codes must be finite"):
        std_rank(np.full((5, 4, 3), np.inf), np.zeros((5, 3)))
