"""How far apart two sets of codes are, src/unbraid/metrics/background_distance.py."""

import numpy as np
import pytest

from unbraid.metrics import background_distance


def normal(n: int, d: int, *, seed: int, scale: float = 1.0, shift: float = 0.0) -> np.ndarray:
    return scale * np.random.default_rng(seed).standard_normal((n, d)) + shift


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_two_samples_of_one_law_have_the_calibrated_distance_and_a_ratio_of_one() -> None:
    result = background_distance(normal(2000, 8, seed=1), normal(2000, 8, seed=2), rng=rng())
    assert abs(result.score - 4.49) < 0.15 and abs(result.halves - 4.49) < 0.15
    assert abs(result.ratio - 1) < 0.03
    assert result.protocol == "40 batches of 128" and result.n == 2000


def test_shrinking_the_codes_shrinks_the_distance_and_not_the_ratio() -> None:
    """Why the distance alone says little: a code a tenth as large is a hundredth as far."""
    first, second = normal(1000, 4, seed=1), normal(1000, 4, seed=2, shift=1.0)
    large = background_distance(first, second, rng=rng())
    small = background_distance(first / 10, second / 10, rng=rng())
    assert abs(small.score / large.score - 0.01) < 1e-6
    assert abs(small.ratio - large.ratio) < 1e-6 and large.ratio > 3


def test_a_shift_adds_its_square() -> None:
    near = background_distance(normal(2000, 4, seed=1), normal(2000, 4, seed=2), rng=rng())
    far = background_distance(normal(2000, 4, seed=1), normal(2000, 4, seed=2, shift=5.0), rng=rng())
    assert abs(far.score - near.score - 4 * 25) < 3.0
    assert far.halves == near.halves


def test_drawn_codes_are_scored_beside_means() -> None:
    means = normal(600, 2, seed=1, scale=0.1), normal(600, 2, seed=2, scale=0.1)
    noise = normal(600, 2, seed=3), normal(600, 2, seed=4)
    result = background_distance(
        *means, rng=rng(), sampled_codes=means[0] + noise[0], background_sampled_codes=means[1] + noise[1]
    )
    assert result.score > 20 * result.means and abs(result.ratio - 1) < 0.3
    alone = background_distance(*means, rng=rng())
    assert alone.score == alone.means == result.means


def test_few_samples_make_smaller_batches_and_too_few_are_refused() -> None:
    assert background_distance(normal(60, 2, seed=1), normal(20, 2, seed=2), rng=rng()).batch == 20
    with pytest.raises(ValueError, match="at least 4 target and 2 background samples"):
        background_distance(normal(3, 2, seed=1), normal(5, 2, seed=2), rng=rng())
    with pytest.raises(ValueError, match="batch must be at least 2"):
        background_distance(normal(30, 2, seed=1), normal(50, 2, seed=2), rng=rng(), batch=1)


def test_codes_that_never_move_are_alike() -> None:
    result = background_distance(np.zeros((20, 2)), np.zeros((20, 2)), rng=rng())
    assert result.score == 0 and result.ratio == 1
    apart = background_distance(np.zeros((20, 2)), np.ones((20, 2)), rng=rng())
    assert apart.score == 2 and apart.ratio == float("inf")
