"""The door of the metrics, src/unbraid/metrics/arrays.py."""

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics.arrays import as_codes, as_factors, as_labels, once_each, standardize, varying


def test_codes_come_back_as_float64() -> None:
    assert as_codes(np.ones((3, 2), np.float32)).dtype == np.float64
    assert as_codes(np.ones((3, 2), np.int8)).dtype == np.float64


def test_the_columns_at_fault_are_named() -> None:
    codes = np.zeros((3, 4))
    codes[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"columns \[2\] hold NaN"):
        as_codes(codes)
    with pytest.raises(ValueError, match=r"columns \[1\] take one"):
        as_factors(np.array([[0, 5], [1, 5]]))


def test_tables_that_go_together_have_equal_widths() -> None:
    with pytest.raises(ValueError, match="must have 3 columns"):
        as_codes(np.zeros((3, 2)), columns=3)
    with pytest.raises(ValueError, match="must have 3 columns"):
        as_factors(np.zeros((3, 2), int), columns=3)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.zeros((3, 1), int), "one integer per sample"),
        (np.zeros(3), "must be integers"),
        (np.zeros(1, int), "at least two samples"),
        (np.zeros(4, int), "4 rows for 3 samples"),
    ],
)
def test_bad_labels_get_one_sentence(labels: np.ndarray, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        as_labels(labels, samples=3 if len(labels) != 1 else 1)


def test_standardize_moves_others_by_the_same_map_and_sends_constants_to_zero() -> None:
    """Column 0 has mean 2 and deviation 1; the constant 0.1 has a deviation of rounding, not of 0."""
    codes = np.array([[1.0, 0.1], [3.0, 0.1], [1.0, 0.1], [3.0, 0.1]])
    moved, other = standardize(codes, np.array([[4.0, 7.0]]))
    assert_close(moved, np.array([[-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]))
    assert_close(other, np.array([[2.0, 0.0]]))
    assert varying(codes).tolist() == [True, False]


def test_each_thing_once_where_it_comes_first() -> None:
    assert once_each(np.array([7, 3, 7, 7, 5, 3]), 6).tolist() == [0, 1, 4]
    assert once_each(None, 3).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="instances must have one row per sample; got 2 rows for 3"):
        once_each(np.array([0, 1]), 3)
