"""How near generated observations are to data, src/unbraid/metrics/sample_quality.py."""

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics import sample_quality


def normal(n: int, *, seed: int, scale: float = 1.0) -> np.ndarray:
    return scale * np.random.default_rng(seed).standard_normal((n, 5))


def test_by_hand() -> None:
    """Data at 0, 1 and 3; the nearest other is at 1, 1 and 2. Generated at 0.5 and 10, whose balls have radius 9.5.

    Distances to the nearest data are 0.5 and 7, those of held-out data 2 and 0. Only 0.5 lies in a ball of the data;
    the ball of 0.5 covers all data, that of 10 the 1 and the 3.
    """
    data, generated, held_out = (np.array(rows)[:, None] for rows in ([0.0, 1, 3], [0.5, 10], [5.0, 1]))
    result = sample_quality(generated, data, held_out, neighbors=1)
    assert_close(result.distance, 3.75)
    assert_close(result.data_distance, 1.0)
    assert_close(result.score, 3.75)
    assert (result.precision, result.recall, result.n) == (0.5, 1.0, 3)


def test_samples_of_the_data_are_as_near_as_held_out_data() -> None:
    result = sample_quality(normal(800, seed=1), normal(800, seed=2), normal(800, seed=3))
    assert abs(result.score - 1) < 0.03 and result.precision > 0.7 and result.recall > 0.7


def test_samples_beyond_the_data_are_farther_and_samples_within_miss_its_borders() -> None:
    data, held_out = normal(800, seed=2), normal(800, seed=3)
    wide, narrow = (sample_quality(normal(800, seed=1, scale=scale), data, held_out) for scale in (3.0, 0.1))
    assert wide.score > 2 and wide.precision < 0.3
    assert narrow.score < 0.9 and narrow.precision > 0.98 and narrow.recall < 0.1


def test_the_scale_of_observations_does_not_matter() -> None:
    rows = [normal(50, seed=seed) for seed in range(3)]
    one, other = sample_quality(*rows), sample_quality(*(100 * part for part in rows))
    assert_close([*one[:1], *one[3:]], [*other[:1], *other[3:]])


def test_observations_that_are_all_alike() -> None:
    zeros, ones = np.zeros((9, 2)), np.ones((9, 2))
    assert sample_quality(zeros, zeros, zeros).score == 1
    assert sample_quality(ones, zeros, zeros).score == float("inf")


def test_mistakes_get_one_sentence() -> None:
    with pytest.raises(ValueError, match="more observations than neighbors; got neighbors=3, 3 observations"):
        sample_quality(normal(9, seed=1), normal(3, seed=2), normal(9, seed=3))
    with pytest.raises(ValueError, match="generated must have 5 columns"):
        sample_quality(np.zeros((9, 2)), normal(9, seed=2), normal(9, seed=3))
