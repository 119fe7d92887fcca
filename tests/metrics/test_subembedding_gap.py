"""The gap between subembeddings, src/unbraid/metrics/subembedding_gap.py."""

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics import probe, subembedding_gap

FACTORS = np.tile(np.indices((4, 2)).reshape(2, -1).T, (50, 1))


def gap(codes: np.ndarray, *subembeddings: list[int]) -> tuple:
    return subembedding_gap(
        codes, FACTORS, test_codes=codes, test_factors=FACTORS, subembeddings=subembeddings
    )


def test_each_factor_in_its_own_half() -> None:
    """A half that knows nothing is right by chance, 1/4 and 1/2: gaps 3/4 and 1/2, mean 5/8."""
    result = gap(FACTORS.astype(float), [0], [1])
    assert_close(result.accuracy, np.array([[1.0, 0.5], [0.25, 1.0]]))
    assert_close(result.per_factor, np.array([0.75, 0.5]))
    assert_close(result.score, 0.625)
    assert_close(result.whole, np.array([1.0, 1.0]))
    assert result.best.tolist() == [0, 1]
    assert result.diagonal is True
    assert (result.n, result.n_test) == (400, 400)


def test_halves_that_both_know_everything_have_no_gap() -> None:
    result = gap(np.column_stack([FACTORS, FACTORS]).astype(float), [0, 1], [2, 3])
    assert_close(result.score, 0.0)
    assert result.diagonal is False


def test_one_half_that_knows_everything_has_a_gap_without_the_diagonal() -> None:
    codes = np.column_stack([FACTORS, np.zeros((400, 2))]).astype(float)
    result = gap(codes, [0, 1], [2, 3])
    assert_close(result.score, 0.625)
    assert result.diagonal is False
    assert_close(gap(codes, [2, 3], [0, 1]).score, 0.625)


def test_it_is_the_difference_of_two_probes() -> None:
    rng = np.random.default_rng(0)
    codes = FACTORS @ rng.standard_normal((2, 4)) + 0.5 * rng.standard_normal((400, 4))
    result = gap(codes, [0, 2], [1, 3])
    for k in range(2):
        first, second = (
            probe(codes[:, s], FACTORS[:, k], test_codes=codes[:, s], test_labels=FACTORS[:, k]).score
            for s in ([0, 2], [1, 3])
        )
        assert_close(float(result.per_factor[k]), abs(first - second))


def test_bad_input_gets_one_sentence() -> None:
    with pytest.raises(ValueError, match="at least two subembeddings; got 1"):
        gap(FACTORS.astype(float), [0, 1])
    with pytest.raises(ValueError, match="'subembedding 1' must lie within the 2 codes"):
        gap(FACTORS.astype(float), [0], [2])
