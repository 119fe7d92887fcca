"""Arrays as scikit-learn has them, as observations that a method sees, and back."""

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.data.columns import Columns

Flat = Float[np.ndarray, "n f"]


class Layout(NamedTuple):
    """How the numbers of one observation lie in an array, and what they mean."""

    given: tuple[int, ...]  # the shape of one observation in the array
    shape: tuple[int, ...]  # the same as a method sees it: (channels, height, width) or (columns,)
    white: float = 1.0  # of images, the number that stands for 1
    columns: Columns | None = None  # of rows, what brings them to one scale

    @classmethod
    def of_images(cls, flat: Flat, given: tuple[int, ...], *, whole: bool) -> "Layout":
        """Images (height, width), (height, width, channels) or (channels, height, width), of bytes or in [0, 1]."""
        if len(given) not in (2, 3) or int(np.prod(given)) != flat.shape[1]:
            raise ValueError(
                f"An image is (height, width), with channels before or after them; got {given} for {flat.shape[1]} "
                "numbers."
            )
        shape = (
            (1, *given) if len(given) == 2 else given if _channels_first(given) else (given[2], *given[:2])
        )
        layout = cls(given, shape, white=255.0 if whole and flat.max(initial=0) > 1 else 1.0)
        layout.tensor(flat)  # raises where pixels lie outside
        return layout

    @classmethod
    def of_rows(cls, flat: Flat, *, standardise: bool) -> "Layout":
        """Rows, whose columns are brought to mean 0 and variance 1 unless told otherwise."""
        columns = Columns.of(flat.astype(np.float64)) if standardise else None
        return cls(flat.shape[1:], flat.shape[1:], columns=columns)

    @property
    def images(self) -> bool:
        return len(self.shape) == 3

    def tensor(self, flat: Flat) -> Tensor:
        """The observations as a method sees them, in the array's precision."""
        if not self.images:
            rows = flat if self.columns is None else self.columns.standardised(flat)
            return torch.from_numpy(np.ascontiguousarray(rows.astype(flat.dtype)))
        if flat.min(initial=0) < 0 or flat.max(initial=0) > self.white:
            raise ValueError(
                "Images must hold whole numbers from 0 to 255, or floats from 0 to 1; got numbers from "
                f"{flat.min():g} to {flat.max():g}: divide by the value of white first."
            )
        images = np.reshape(flat / flat.dtype.type(self.white), (len(flat), *self.given))
        if len(self.given) == 2:
            images = images[:, None]
        elif self.shape != self.given:
            images = np.moveaxis(images, -1, 1)
        return torch.from_numpy(np.ascontiguousarray(images))

    def array(self, observations: Tensor, *, flat: bool) -> np.ndarray:
        """Observations in the units of the array and, unless flat, in its shape."""
        values = observations.numpy()
        if not self.images:
            restored = values if self.columns is None else self.columns.restored(values)
            return restored.astype(values.dtype)
        if len(self.given) == 3 and self.shape != self.given:
            values = np.moveaxis(values, 1, -1)
        images = np.ascontiguousarray(values.reshape(len(values), *self.given)) * values.dtype.type(
            self.white
        )
        return images.reshape(len(images), -1) if flat else images


def dimensions(array: Any) -> int:
    """How many axes an array, a frame or nested lists have."""
    return array.ndim if hasattr(array, "ndim") else np.asarray(array).ndim


def _channels_first(shape: tuple[int, ...]) -> bool:
    """Whether an image is (c, h, w), not (h, w, c): few channels, or a square picture."""
    first, middle, last = shape
    return first <= 4 if (first <= 4) != (last <= 4) else middle == last
