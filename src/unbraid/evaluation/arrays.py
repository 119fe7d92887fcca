"""Arrays of codes and factors from other tools, and the error for arrays that are not available."""

from typing import Any

import numpy as np


class NotAvailable(ValueError):
    """An array that a metric needs is not available for this method or dataset."""


class Arrays:
    """Codes with their factors or labels."""

    def __init__(
        self, codes: np.ndarray, factors: np.ndarray | None = None, labels: np.ndarray | None = None
    ) -> None:
        self.codes = codes
        if factors is not None:
            self.factors = factors
        if labels is not None:
            self.labels = labels

    def select_strand(self, strand: str) -> "Arrays":
        raise ValueError(
            f"Strands are not known for arrays, so {strand!r} cannot be selected. Pass only the columns of the strand."
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotAvailable(f"This metric needs {name}, and the files contain none. Choose other metrics.")
