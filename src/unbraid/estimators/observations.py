"""Conversion between scikit-learn's arrays and the observations of a method."""

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.data import ColumnScaler

Flat = Float[np.ndarray, "n f"]


class Layout(NamedTuple):
    """The layout and the scale of the observations in an array."""

    array_shape: tuple[int, ...]  # of one observation in the array
    shape: tuple[int, ...]  # of one observation in the method: (channels, height, width) or (columns,)
    max_value: float = 1.0  # largest pixel value of images
    columns: ColumnScaler | None = None  # standardizes rows

    @classmethod
    def of_images(cls, flat: Flat, array_shape: tuple[int, ...], *, is_integer: bool) -> "Layout":
        """Images (height, width), (height, width, channels) or (channels, height, width), uint8 or in [0, 1]."""
        if len(array_shape) not in (2, 3) or int(np.prod(array_shape)) != flat.shape[1]:
            raise ValueError(
                "Images must have shape (height, width), (height, width, channels) or (channels, height, width); got "
                f"{array_shape} for {flat.shape[1]} values."
            )
        if len(array_shape) == 2:
            shape = (1, *array_shape)
        else:
            shape = array_shape if _channels_first(array_shape) else (array_shape[2], *array_shape[:2])
        layout = cls(array_shape, shape, max_value=255.0 if is_integer and flat.max(initial=0) > 1 else 1.0)
        layout.tensor(flat)  # raises if pixels are out of range
        return layout

    @classmethod
    def of_rows(cls, flat: Flat, *, standardize: bool) -> "Layout":
        """Rows; with `standardize`, columns are scaled to mean 0 and variance 1."""
        columns = ColumnScaler.fit(flat.astype(np.float64)) if standardize else None
        return cls(flat.shape[1:], flat.shape[1:], columns=columns)

    @property
    def images(self) -> bool:
        return len(self.shape) == 3

    def tensor(self, flat: Flat) -> Tensor:
        """The observations in the shape and scale of the method, in the array's precision."""
        if not self.images:
            rows = flat if self.columns is None else self.columns.transform(flat)
            return torch.from_numpy(np.ascontiguousarray(rows.astype(flat.dtype)))
        if flat.min(initial=0) < 0 or flat.max(initial=0) > self.max_value:
            raise ValueError(
                f"Images must be uint8, or float in [0, 1]; got values from {flat.min():g} to {flat.max():g}. Divide "
                "by the maximum pixel value first."
            )
        images = np.reshape(flat / flat.dtype.type(self.max_value), (len(flat), *self.array_shape))
        if len(self.array_shape) == 2:
            images = images[:, None]
        elif self.shape != self.array_shape:
            images = np.moveaxis(images, -1, 1)
        return torch.from_numpy(np.ascontiguousarray(images))

    def array(self, observations: Tensor, *, flat: bool) -> np.ndarray:
        """Observations in the units of the array and, without `flat`, in its shape."""
        values = observations.numpy()
        if not self.images:
            rows = values if self.columns is None else self.columns.inverse_transform(values)
            return rows.astype(values.dtype)
        if len(self.array_shape) == 3 and self.shape != self.array_shape:
            values = np.moveaxis(values, 1, -1)
        images = np.ascontiguousarray(values.reshape(len(values), *self.array_shape))
        images = images * values.dtype.type(self.max_value)
        return images.reshape(len(images), -1) if flat else images


def num_axes(array: Any) -> int:
    """The number of axes of an array, a data frame or nested lists."""
    return array.ndim if hasattr(array, "ndim") else np.asarray(array).ndim


def _channels_first(shape: tuple[int, ...]) -> bool:
    """Whether an image is (c, h, w) and not (h, w, c).

    The axis of at most 4 values is the channels; if that is ambiguous, the two equal axes are height and width.
    """
    first, middle, last = shape
    return first <= 4 if (first <= 4) != (last <= 4) else middle == last
