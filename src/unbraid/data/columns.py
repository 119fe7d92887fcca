"""The columns of a table: their names, and how their values were standardized."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

MAX_LISTED = 12  # names in a sentence


@runtime_checkable
class DataFrame(Protocol):
    """A table in memory with names of its columns, such as a DataFrame of pandas or polars."""

    @property
    def columns(self) -> Any: ...

    def to_numpy(self) -> np.ndarray: ...

    def __getitem__(self, key: Any, /) -> Any: ...


class ColumnScaler(NamedTuple):
    """Standardizes columns: a stored row is `row * std + mean` of the row that a method sees."""

    names: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    fill: tuple[float, ...] = ()  # replaces missing values (NaN) of each column; empty: there must be none

    @classmethod
    def fit(
        cls, values: Float[np.ndarray, "n f"], names: Sequence[str] = (), fill: Sequence[float] = ()
    ) -> "ColumnScaler":
        """A scaler with the means and standard deviations of the columns; 1 for a constant column."""
        constant = values.min(0) == values.max(0)  # the computed deviation of equal values may differ from 0
        return cls(
            tuple(names) or tuple(f"x{index}" for index in range(values.shape[1])),
            tuple(values.mean(0).tolist()),
            tuple(np.where(constant, 1.0, values.std(0)).tolist()),
            tuple(fill),
        )

    @classmethod
    def identity(cls, names: Sequence[str], fill: Sequence[float] = ()) -> "ColumnScaler":
        """A scaler that leaves values unchanged."""
        return cls(tuple(names), (0.0,) * len(names), (1.0,) * len(names), tuple(fill))

    @classmethod
    def from_json(cls, columns: Any, *, owner: str) -> "ColumnScaler":
        """The scaler that `to_json` describes; raises a sentence about its owner if it describes none."""
        lists: list[Any] = [
            columns.get(name) if isinstance(columns, Mapping) else None for name in cls._fields
        ]
        names, *numbers = [tuple(values if isinstance(values, list) else [values]) for values in lists]
        finite = all(_is_finite(number) for values in numbers for number in values)
        sizes = {len(names), *(len(values) for values in numbers[:2]), len(numbers[2]) or len(names)}
        if not (finite and len(sizes) == 1 and all(isinstance(name, str) for name in names)):
            raise ValueError(f"{owner} has damaged columns of its table. Restore it from a copy.")
        scaler = cls(names, *numbers)
        if not all(number > 0 for number in scaler.std):
            raise ValueError(
                f"{owner} has a column whose standard deviation is not above 0. Restore it from a copy."
            )
        return scaler

    def to_json(self) -> dict[str, list[Any]]:
        """The scaler as plain data."""
        return {name: list(values) for name, values in self._asdict().items()}

    def transform(self, values: Float[np.ndarray, "n f"]) -> Float[np.ndarray, "n f"]:
        """Standardized rows: mean 0 and variance 1 on the rows that the scaler was fitted to."""
        if self.fill:
            values = np.where(np.isnan(values), np.array(self.fill), values)
        return (values - np.array(self.mean)) / np.array(self.std)

    def inverse_transform(self, values: Float[np.ndarray, "n f"]) -> Float[np.ndarray, "n f"]:
        """Rows in the original units of the table."""
        return values * np.array(self.std) + np.array(self.mean)

    def positions(self, names: Sequence[str], owner: str) -> list[int]:
        """The position of each column among other names; raises if one is missing or appears twice."""
        if missing := [name for name in self.names if name not in names]:
            raise ValueError(
                f"{owner} lacks {_columns(missing)}. Columns are matched by name, in any order, and it needs "
                f"{_listed(self.names)}; it has {_listed(names)}."
            )
        if twice := [name for name in self.names if list(names).count(name) > 1]:
            raise ValueError(f"{owner} has {_columns(twice)} more than once: keep one of each name.")
        return [list(names).index(name) for name in self.names]

    def rows_of(self, frame: DataFrame) -> Float[np.ndarray, "n f"]:
        """The rows of a data frame, its columns matched by name; further columns are left out."""
        positions = self.positions([str(name) for name in frame.columns], "The data frame")
        values = frame[[frame.columns[position] for position in positions]].to_numpy()
        if values.dtype.kind not in "biuf":
            for name, column in zip(self.names, values.T, strict=True):
                if text := [cell for cell in column if not isinstance(cell, Real)]:
                    raise ValueError(
                        f"The column {name!r} of the data frame must hold numbers; it holds {text[0]!r}."
                    )
        return values.astype(np.float64)

    def check_present(self, rows: Float[np.ndarray, "n f"]) -> None:
        """Raises if a value is missing and nothing replaces it."""
        absent = np.isnan(rows)
        if not self.fill and absent.any():
            row, column = np.argwhere(absent)[0]
            raise ValueError(
                f"Row {row} lacks a value in the column {self.names[column]!r}: remove the row, or train with missing "
                "values filled (--impute mean)."
            )


def _is_finite(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < float("inf")


def rescaled_rows(
    rows: Tensor, columns: ColumnScaler | None, other: ColumnScaler | None, owner: str
) -> Float[Tensor, "n f"]:
    """Rows that `columns` standardized, standardized by `other` columns instead, which are matched by name."""
    if columns == other:
        return rows
    values = rows.double().cpu().numpy()
    if columns is not None:
        values = columns.inverse_transform(values)
        values = values if other is None else values[:, other.positions(columns.names, owner)]
    values = values if other is None else other.transform(values)
    return torch.from_numpy(values).to(rows)


def _columns(names: Sequence[str]) -> str:
    return f"the column{'s' if len(names) > 1 else ''} {_listed(list(map(repr, names)))}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_LISTED]) + (", …" if len(names) > MAX_LISTED else "")
