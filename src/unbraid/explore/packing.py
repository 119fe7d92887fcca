"""Encodes arrays for an HTML page: base64 of float32, or of int16 with a scale per row if that is precise enough."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

INT16_MAX = 32767
MAX_FLOAT32_ENTRIES = 50_000  # tables with more entries are stored as int16
MIN_INT16_ENTRIES = 2048  # weights with at most this many entries are always stored as float32


def base64_of(array: np.ndarray) -> str:
    """Little-endian bytes of an array in base64."""
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def pack_float32(array: Tensor | np.ndarray) -> dict[str, Any]:
    """An array as float32: shape and numbers."""
    float32 = np.asarray(array, dtype=np.float32)
    return {"shape": list(float32.shape), "numbers": base64_of(float32)}


def pack_int16(matrix: Float[Tensor, "rows columns"]) -> dict[str, Any]:
    """A matrix as int16 with one scale per row."""
    scale = _row_scale(matrix)
    integers = (matrix / scale).round().to(torch.int16)
    return {
        "shape": list(matrix.shape),
        "int16": base64_of(integers.numpy()),
        "scale": base64_of(scale[:, 0].numpy().astype(np.float32)),
    }


def pack_table(rows: Float[Tensor, "rows columns"]) -> dict[str, Any]:
    """A table as float32, or as int16 if it has more than MAX_FLOAT32_ENTRIES entries."""
    return pack_int16(rows) if rows.numel() > MAX_FLOAT32_ENTRIES else pack_float32(rows)


def pack_constants(constants: Mapping[str, Tensor], *, exact: bool) -> dict[str, Any]:
    """Constants as float32; unless `exact`, large matrices as int16."""
    return {
        name: pack_float32(constant) if exact or not _is_compressed(constant) else pack_int16(constant)
        for name, constant in constants.items()
    }


def round_to_int16(constants: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The constants as the page decodes them: large matrices are rounded to int16."""
    return {name: _rounded(value) if _is_compressed(value) else value for name, value in constants.items()}


def _is_compressed(constant: Tensor) -> bool:
    return constant.ndim == 2 and constant.numel() > MIN_INT16_ENTRIES


def _row_scale(matrix: Tensor) -> Tensor:
    """Scale per row: the largest entry of a row becomes INT16_MAX."""
    return matrix.abs().amax(1, keepdim=True).clamp(min=1e-30) / INT16_MAX


def _rounded(matrix: Tensor) -> Tensor:
    scale = _row_scale(matrix)
    return (matrix / scale).round() * scale
