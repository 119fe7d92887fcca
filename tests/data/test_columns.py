"""Standardizing columns and back, src/unbraid/data/columns.py."""

import json

import numpy as np
import pytest
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


def test_missing_values_are_filled() -> None:
    columns = ColumnScaler(("a", "b"), (2.0, 0.0), (2.0, 1.0), fill=(4.0, 5.0))
    assert_allclose(columns.transform(np.array([[np.nan, 1.0], [0.0, np.nan]])), [[1, 1], [-1, 5]])


def test_as_json_and_back() -> None:
    columns = ColumnScaler.fit(TABLE, ("a", "b", "c"), (1.0, 2.0, 3.0))
    assert ColumnScaler.from_json(json.loads(json.dumps(columns.to_json())), owner="run") == columns


def test_columns_are_found_by_name_wherever_they_stand() -> None:
    columns = ColumnScaler.identity("ab")
    assert columns.positions(("b", "x", "a"), "rows.csv") == [2, 0]
    with pytest.raises(ValueError, match=r"rows\.csv lacks the column 'b'"):
        columns.positions(("a", "x"), "rows.csv")
    with pytest.raises(ValueError, match=r"rows\.csv has the column 'a' more than once"):
        columns.positions(("a", "b", "a"), "rows.csv")


@pytest.mark.parametrize(
    "damage",
    [
        {"names": ["a"]},
        {"names": [1, 2]},
        {"mean": None},
        {"mean": "ab"},
        {"mean": [0.0, "1"]},
        {"std": [1.0, float("nan")]},
        {"std": [1.0, 0.0]},
        {"fill": [1.0]},
    ],
)
def test_damaged_columns_are_refused(damage: dict) -> None:
    columns = ColumnScaler(("a", "b"), (0.0, 1.0), (1.0, 2.0)).to_json()
    for damaged in (columns | damage, [1], 3):
        with pytest.raises(ValueError, match=r"^run has .* Restore it from a copy\.$"):
            ColumnScaler.from_json(damaged, owner="run")
