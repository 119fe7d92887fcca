"""Numbers within a page: arrays as base64, matrices in sixteen bits where that is exact enough."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

MOST = 32767  # the largest whole number of sixteen bits
LARGE = 50_000  # numbers of a table, such as the codes of examples
SMALL = 2048  # numbers; an array of fewer is kept as it is


def text_of(array: np.ndarray) -> str:
    """An array's bytes, little end first, in base64."""
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def floats(array: Tensor | np.ndarray) -> dict[str, Any]:
    """An array of float32 for the page: its shape and its numbers."""
    plain = np.asarray(array, dtype=np.float32)
    return {"shape": list(plain.shape), "numbers": text_of(plain)}


def shorts(matrix: Float[Tensor, "rows columns"]) -> dict[str, Any]:
    """A matrix in sixteen bits: each row as whole numbers, and what one of them is worth."""
    worth = _worth(matrix)
    wholes = (matrix / worth).round().to(torch.int16)
    return {
        "shape": list(matrix.shape),
        "wholes": text_of(wholes.numpy()),
        "worth": text_of(worth[:, 0].numpy().astype(np.float32)),
    }


def table(rows: Float[Tensor, "rows columns"]) -> dict[str, Any]:
    """A table for the page; one of very many numbers in sixteen bits."""
    return shorts(rows) if rows.numel() > LARGE else floats(rows)


def packed(constants: Mapping[str, Tensor], *, exact: bool) -> dict[str, Any]:
    """Constants for the page, in float32, or without `exact` the large ones in sixteen bits."""
    return {
        name: floats(constant) if exact or not _shortened(constant) else shorts(constant)
        for name, constant in constants.items()
    }


def rounded(constants: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The constants as the page will have them in sixteen bits."""
    return {name: _rounded(value) if _shortened(value) else value for name, value in constants.items()}


def _shortened(constant: Tensor) -> bool:
    return constant.ndim == 2 and constant.numel() > SMALL


def _worth(matrix: Tensor) -> Tensor:
    """What one is worth in each row: its largest entry is MOST."""
    return matrix.abs().amax(1, keepdim=True).clamp(min=1e-30) / MOST


def _rounded(matrix: Tensor) -> Tensor:
    worth = _worth(matrix)
    return (matrix / worth).round() * worth
