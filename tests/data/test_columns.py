"""Columns brought to one scale and back, src/unbraid/data/columns.py."""

import numpy as np
from numpy.testing import assert_allclose

from unbraid.data.columns import Columns

TABLE = np.array([[1.0, 10.0, 7.0], [3.0, 30.0, 7.0]])


def test_means_and_spreads_by_hand() -> None:
    columns = Columns.of(TABLE, ("a", "b", "c"))
    assert columns == Columns(("a", "b", "c"), (2.0, 20.0, 7.0), (1.0, 10.0, 1.0))
    assert_allclose(columns.standardised(TABLE), [[-1, -1, 0], [1, 1, 0]])


def test_back_is_back() -> None:
    columns = Columns.of(TABLE)
    assert columns.names == ("x0", "x1", "x2")
    assert_allclose(columns.restored(columns.standardised(TABLE)), TABLE)


def test_plain_columns_change_nothing() -> None:
    assert_allclose(Columns.plain("abc").standardised(TABLE), TABLE)
