"""How many observations pass a network at once, and the codes of a factor grid, each computed once for all metrics."""

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

CUDA_BATCH_SIZE = 4096  # small batches leave a GPU idle
BATCH_SIZE = 512
# In one batch on a CPU: with more, activations leave the caches, and a network takes up to three times as long.
CACHED_PIXELS = 1 << 17
COMBINATIONS_PER_CALL = 1 << 14  # so that the host waits for a device a few times only
MAX_COMBINATIONS = 1 << 23  # whose codes are kept: 336 MB for ten dimensions


def batch_size(shape: Sequence[int], device: torch.device) -> int:
    """The number of observations of this shape that pass a network at once."""
    if device.type == "cuda":
        return CUDA_BATCH_SIZE
    pixels = prod(shape[1:]) if len(shape) == 3 and device.type == "cpu" else 1
    return max(1, min(BATCH_SIZE, CACHED_PIXELS // pixels))


class GridCodes:
    """The codes of factor combinations. Each is encoded when it is first asked for, and kept.

    Args:
        encode: Function from values of the factors to codes.
        sizes: The number of values of each factor.
    """

    def __init__(self, encode: Callable[[np.ndarray], np.ndarray], sizes: Sequence[int]) -> None:
        self.encode, self.sizes = encode, tuple(sizes)
        combinations = prod(self.sizes)
        self._known = np.zeros(combinations if combinations <= MAX_COMBINATIONS else 0, dtype=bool)
        self._codes: np.ndarray | None = None

    def __call__(self, factors: Int[np.ndarray, "n k"]) -> Float[np.ndarray, "n d"]:
        if not len(self._known):
            return self.encode(factors)
        index = np.asarray(np.ravel_multi_index(tuple(factors.T), self.sizes))
        new = np.unique(index[~self._known[index]])
        if len(new):
            codes = self.encode(np.stack(np.unravel_index(new, self.sizes), axis=1))
            if self._codes is None:
                self._codes = np.empty((len(self._known), codes.shape[1]), codes.dtype)
            self._codes[new], self._known[new] = codes, True
        assert self._codes is not None
        return self._codes[index]


class StrandEncoder(NamedTuple):
    """A function from factor combinations to the codes of one strand, which takes `batch` of them at a time."""

    grid: GridCodes
    dimensions: list[int]
    batch: int = COMBINATIONS_PER_CALL

    def __call__(self, factors: Int[np.ndarray, "n k"]) -> Float[np.ndarray, "n d"]:
        return self.grid(factors)[:, self.dimensions]
