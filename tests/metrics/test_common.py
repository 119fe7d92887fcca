"""Checks that every metric of (codes, factors) must pass. The test file of a metric has its cases in a list COMMON."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from torch.testing import assert_close

from tests.metrics.common_cases import CommonCase, common_cases
from unbraid.metrics import Direction

METRICS = common_cases()


def each(metrics: list[CommonCase]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("metric", metrics, ids=lambda metric: metric.name)


EVERY = each(METRICS)


def grid(repeats: int = 10) -> np.ndarray:
    """Every combination of 4 x 5 x 6 values, equally often: exactly independent factors."""
    return np.tile(np.indices((4, 5, 6)).reshape(3, -1).T, (repeats, 1))


@EVERY
def test_identity(metric: CommonCase) -> None:
    factors = grid()
    assert_close(
        metric.score(factors.astype(float), factors).score, metric.identity, rtol=0, atol=metric.tolerance
    )


@EVERY
def test_order_and_sign_of_codes_do_not_matter(metric: CommonCase) -> None:
    factors = grid()
    codes = factors[:, [2, 0, 1]] * np.array([-1.0, 3.0, -0.5])
    assert_close(metric.score(codes, factors).score, metric.identity, rtol=0, atol=metric.tolerance)


@EVERY
def test_constant_codes(metric: CommonCase) -> None:
    factors = grid()
    score = metric.score(np.full((len(factors), 4), 2.5), factors).score
    assert_close(score, float(metric.constant), rtol=0, atol=1e-6)


@EVERY
def test_one_constant_code_among_others_gives_a_number_in_bounds(metric: CommonCase) -> None:
    factors = grid()
    codes = np.column_stack([factors.astype(float), np.zeros(len(factors))])
    score = metric.score(codes, factors).score
    # modularity counts a dead code 0, so that one in four takes a quarter; no other metric minds.
    wanted = 0.75 if metric.name == "modularity" else metric.identity
    assert_close(score, wanted, rtol=0, atol=metric.tolerance)


@EVERY
def test_duplicated_codes(metric: CommonCase) -> None:
    factors = grid()
    codes = np.column_stack([factors, factors]).astype(float)
    assert_close(
        metric.score(codes, factors).score, float(metric.duplicated), rtol=0, atol=max(metric.tolerance, 0.01)
    )


@each([metric for metric in METRICS if metric.random is not None])
def test_random_codes_know_nothing(metric: CommonCase) -> None:
    factors = grid(20)
    score = metric.score(np.random.default_rng(0).standard_normal((len(factors), 4)), factors).score
    assert score < metric.random


def entangle(u: np.ndarray, alpha: float) -> np.ndarray:
    """Appendix A.1 of Reconstruction for Disentanglement, Contrast for Invariance: f = g⁻¹ h⁻¹ A h g.

    For two independent uniform variables: to normals, through the reflection I - 2vvᵀ with
    v = (√α, √(1 - α)), and back. Uniform and independent as before, each now a mixture of both.
    """
    v = np.array([np.sqrt(alpha), np.sqrt(1 - alpha)])
    return ndtr(ndtri(u) @ (np.eye(2) - 2 * np.outer(v, v)))


@each([metric for metric in METRICS if metric.entangled is not None])
def test_an_entangled_code_with_unchanged_marginals_is_flagged(metric: CommonCase) -> None:
    u = np.random.default_rng(0).uniform(size=(4000, 2))
    factors = (u * 10).astype(int)
    mixed = entangle(u, (1 - np.sqrt(0.5)) / 2)  # an angle of 45 degrees
    separate = metric.score(u, factors).score
    assert metric.score(mixed, factors).score < metric.entangled < separate


@each([metric for metric in METRICS if metric.entangled is not None])
def test_rotated_codes_score_less(metric: CommonCase) -> None:
    rng = np.random.default_rng(0)
    factors = grid()
    codes = factors + 0.1 * rng.standard_normal(factors.shape)
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    assert metric.score(codes @ rotation, factors).score < metric.score(codes, factors).score - 0.1


@EVERY
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_order_type_and_bounds(metric: CommonCase, seed: int) -> None:
    rng = np.random.default_rng(seed)
    factors = np.stack([rng.permutation(np.arange(60) % values) for values in (2, 3)], axis=1)
    codes = factors @ rng.standard_normal((2, 3)) + 0.3 * rng.standard_normal((60, 3))
    result = metric.score(codes, factors)
    assert type(result.score) is float
    low, high = Direction.of(type(result)).bounds
    assert low is None or low - 1e-9 <= result.score
    assert high is None or result.score <= high + 1e-9
    assert result.n == 60
    tolerance = max(metric.tolerance, 1e-9)
    samples, columns = rng.permutation(60), rng.permutation(3)
    for again in (metric.score(codes[samples], factors[samples]), metric.score(codes[:, columns], factors)):
        assert_close(again.score, result.score, rtol=0, atol=tolerance)


@EVERY
def test_a_hundred_thousand_samples_take_less_than_a_gibibyte(metric: CommonCase) -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, [3, 6], (100_000, 2))
    codes = factors @ rng.standard_normal((2, 6)) + rng.standard_normal((100_000, 6))
    tracemalloc.start()
    try:
        assert metric.score(codes, factors).n == 100_000
        assert tracemalloc.get_traced_memory()[1] < 2**30
    finally:
        tracemalloc.stop()


@EVERY
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_dtypes(metric: CommonCase, dtype: type) -> None:
    factors = grid()
    codes = factors + 0.25 * np.random.default_rng(0).standard_normal(factors.shape)
    single = codes.astype(np.float32)
    assert_close(
        metric.score(single, factors.astype(dtype)).score,
        metric.score(single.astype(np.float64), factors).score,
        rtol=0,
        atol=1e-9,
    )


@EVERY
@pytest.mark.parametrize(
    ("codes", "factors", "sentence"),
    [
        (np.zeros(8), np.zeros((8, 2), int), "codes must be a table"),
        (np.zeros((8, 2, 2)), np.zeros((8, 2), int), "codes must be a table"),
        (np.zeros((8, 0)), np.zeros((8, 2), int), "at least one column"),
        (np.full((8, 2), np.nan), np.zeros((8, 2), int), "codes must be finite"),
        (np.full((8, 2), np.inf), np.zeros((8, 2), int), "codes must be finite"),
        (np.full((8, 2), "a"), np.zeros((8, 2), int), "codes must be real numbers"),
        (np.zeros((1, 2)), np.zeros((1, 2), int), "at least two samples"),
        (np.zeros((8, 2)), np.zeros(8, int), "factors must be a table"),
        (np.zeros((8, 2)), np.zeros((7, 2), int), "7 rows for 8 samples"),
        (np.zeros((8, 2)), np.zeros((8, 2), int), "at least two values"),
    ],
)
def test_bad_input_gets_one_sentence(
    metric: CommonCase, codes: np.ndarray, factors: np.ndarray, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        metric.score(codes, factors)
    assert "\n" not in str(caught.value)


@each([metric for metric in METRICS if not metric.name.startswith("mcc")])  # mcc takes real factors
def test_factors_that_are_not_integers_get_one_sentence(metric: CommonCase) -> None:
    with pytest.raises(ValueError, match="factors must be integers"):
        metric.score(np.zeros((8, 2)), np.linspace(0, 1, 16).reshape(8, 2))
