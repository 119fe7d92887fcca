"""Squared Wasserstein distance, src/unbraid/metrics/w2.py."""

import sys
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from unbraid.metrics import w2


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_assignment_is_cheaper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, 5, 3))
    slow = min(((a - b[list(order)]) ** 2).sum(axis=1).mean() for order in permutations(range(5)))
    assert_close(w2(a, b).score, float(slow))


def test_it_is_the_squared_distance() -> None:
    """Moving a sample by 3 costs 9; by (3, 4), 25. Scaling both by 2 costs 4 times as much."""
    a = np.random.default_rng(0).standard_normal((50, 2))
    step = np.array([3.0, 4.0])
    assert_close(w2(a, a + step).score, 25.0)
    assert_close(w2(2 * a, 2 * (a + step)).score, 100.0)
    assert w2(a, a[::-1]).score == 0.0


def test_on_a_line_the_order_is_the_plan() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 40, 1))
    sorted_cost = ((np.sort(a, axis=0) - np.sort(b, axis=0)) ** 2).mean()
    assert_close(w2(a, b).score, float(sorted_cost))


def test_unequal_sizes_by_hand() -> None:
    """{0, 6} to {0, 3, 6}: each end keeps 1/3 and sends 1/6 to the middle: 2 · 9/6 = 3."""
    result = w2(np.array([[0.0], [6.0]]), np.array([[0.0], [3.0], [6.0]]))
    assert_close(result.score, 3.0)
    assert (result.n, result.n_second, result.protocol) == (2, 3, "linear program")


@pytest.mark.parametrize("sizes", [(6, 12), (4, 10), (30, 7)])
def test_unequal_sizes_are_the_assignment_of_repeated_points(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((n, 3)) for n in sizes)
    common = int(np.lcm(*sizes))
    repeated = w2(np.repeat(a, common // sizes[0], axis=0), np.repeat(b, common // sizes[1], axis=0))
    result = w2(a, b)
    assert_close(result.score, repeated.score)
    assert_close(w2(b, a).score, result.score)
    moved = np.zeros(sizes)
    moved[result.rows, result.columns] = result.mass
    assert_close(moved.sum(axis=1), np.full(sizes[0], 1 / sizes[0]))
    assert_close(moved.sum(axis=0), np.full(sizes[1], 1 / sizes[1]))


def test_agreement_with_pot(monkeypatch: pytest.MonkeyPatch) -> None:
    ot = pytest.importorskip("ot", reason="POT is not installed: pip install 'unbraid[transport]'")
    rng = np.random.default_rng(0)
    for n, m in ((64, 64), (40, 25)):
        a, b = rng.standard_normal((n, 4)), rng.standard_normal((m, 4)) + 1
        expected = float(ot.emd2([], [], ot.dist(a, b)))
        assert_close(w2(a, b).score, expected)
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "ot", None)  # as if it were not installed
            assert_close(w2(a, b).score, expected)


@pytest.mark.parametrize(("d", "expected"), [(4, 1.05), (8, 4.49), (16, 14.5), (32, 38.0)])
def test_the_floor_between_two_batches_of_one_normal(d: int, expected: float) -> None:
    """Mean over 20 pairs of batches of 128: the standard error is below 1 % of the value."""
    rng = np.random.default_rng(0)
    floor = np.mean([w2(*rng.standard_normal((2, 128, d))).score for _ in range(20)])
    assert_close(float(floor), expected, rtol=0.02, atol=0.0)


def test_bad_input_gets_one_sentence() -> None:
    with pytest.raises(ValueError, match="second must have 2 columns"):
        w2(np.zeros((4, 2)), np.zeros((4, 3)))
    with pytest.raises(ValueError, match="first must be finite"):
        w2(np.full((4, 2), np.nan), np.zeros((4, 2)))
    with pytest.raises(ValueError, match="at most 50,000,000 pairs"):
        w2(np.zeros((100_000, 1)), np.zeros((100_000, 1)))
