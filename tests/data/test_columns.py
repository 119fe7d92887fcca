"""Standardizing columns and back, src/unbraid/data/columns.py."""

import numpy as np
from numpy.testing import assert_allclose

from unbraid.data.columns import ColumnScaler

TABLE = np.array([[1.0, 10.0, 7.0], [3.0, 30.0, 7.0]])


def test_means_and_standard_deviations_by_hand() -> None:
    columns = ColumnScaler.fit(TABLE, ("a", "b", "c"))
    assert columns == ColumnScaler(("a", "b", "c"), (2.0, 20.0, 7.0), (1.0, 10.0, 1.0))
    assert_allclose(columns.transform(TABLE), [[-1, -1, 0], [1, 1, 0]])


def test_back_is_back() -> None:
    columns = ColumnScaler.fit(TABLE)
    assert columns.names == ("x0", "x1", "x2")
    assert_allclose(columns.inverse_transform(columns.transform(TABLE)), TABLE)


def test_plain_columns_change_nothing() -> None:
    assert_allclose(ColumnScaler.identity("abc").transform(TABLE), TABLE)
