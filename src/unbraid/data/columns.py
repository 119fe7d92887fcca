"""The columns of a table: their names, and how their values were standardized."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class ColumnScaler(NamedTuple):
    """Standardizes columns: a stored row is `row * std + mean` of the row that a method sees."""

    names: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def fit(cls, values: Float[np.ndarray, "n f"], names: Sequence[str] = ()) -> "ColumnScaler":
        """A scaler with the means and standard deviations of the columns; 1 for a constant column."""
        std = values.std(0)
        return cls(
            tuple(names) or tuple(f"x{index}" for index in range(values.shape[1])),
            tuple(values.mean(0).tolist()),
            tuple(np.where(std > 0, std, 1.0).tolist()),
        )

    @classmethod
    def identity(cls, names: Sequence[str]) -> "ColumnScaler":
        """A scaler that leaves values unchanged."""
        return cls(tuple(names), (0.0,) * len(names), (1.0,) * len(names))

    def transform(self, values: Float[np.ndarray, "n f"]) -> Float[np.ndarray, "n f"]:
        """Standardized rows: mean 0 and variance 1 on the rows that the scaler was fitted to."""
        return (values - np.array(self.mean)) / np.array(self.std)

    def inverse_transform(self, values: Float[np.ndarray, "n f"]) -> Float[np.ndarray, "n f"]:
        """Rows in the original units of the table."""
        return values * np.array(self.std) + np.array(self.mean)
