"""The columns of a table: what they are called, and how their numbers were brought to one scale."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class Columns(NamedTuple):
    """A row as it was read is `row * spread + mean` of the row that a method sees."""

    names: tuple[str, ...]
    mean: tuple[float, ...]
    spread: tuple[float, ...]

    @classmethod
    def of(cls, values: Float[np.ndarray, "n f"], names: Sequence[str] = ()) -> "Columns":
        """The means and spreads of columns; one that is the same everywhere keeps its spread."""
        spread = values.std(0)
        return cls(
            tuple(names) or tuple(f"x{place}" for place in range(values.shape[1])),
            tuple(values.mean(0).tolist()),
            tuple(np.where(spread > 0, spread, 1.0).tolist()),
        )

    @classmethod
    def plain(cls, names: Sequence[str]) -> "Columns":
        """Columns whose numbers were left as they are."""
        return cls(tuple(names), (0.0,) * len(names), (1.0,) * len(names))

    def standardised(self, values: Float[np.ndarray, "n f"]) -> Float[np.ndarray, "n f"]:
        """Mean 0 and variance 1, of rows like those that the means and spreads are of."""
        return (values - np.array(self.mean)) / np.array(self.spread)

    def restored(self, values: Float[np.ndarray, "n f"]) -> Float[np.ndarray, "n f"]:
        """The rows in the table's own units again."""
        return values * np.array(self.spread) + np.array(self.mean)
