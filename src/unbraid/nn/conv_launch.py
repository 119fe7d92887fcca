"""Launches of the convolution kernels: how the work of a layer is divided into programs.

Maps have the shape (models, batch, height, width, channels), weights (models, coarse channels, kernel, kernel, fine
channels). Divisions are those that were fastest on an H200 (`benchmarks/conv_speed.py --tune`).
"""

# pyright: reportMissingImports=false, reportCallIssue=false

from typing import Any, NamedTuple

import torch
import triton
from torch import Tensor

from unbraid.nn.conv_gradient_kernel import weight_gradient_kernel
from unbraid.nn.conv_kernels import down_kernel, up_kernel, up_to_image_kernel

PROCESSORS = 128  # of a device, about; each should have a program
PIXELS = 32  # positions that a program of `weight_gradient` multiplies at once


def down(
    fine: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    gate: Tensor | None,
    slope: float,
    gate_slope: float,
    launch: "Launch | None" = None,
) -> Tensor:
    """`(convolution(activation(fine)) + bias) * derivative(gate)`."""
    models, batch, height, width, channels = fine.shape
    coarse_channels, kernel = weight.shape[1], weight.shape[2]
    coarse = fine.new_empty(models, batch, height // 2, width // 2, coarse_channels)
    rows = batch * (height // 2) * (width // 2)
    launch = launch or product_launch(rows, coarse_channels, kernel**2 * channels, models)
    down_kernel[(triton.cdiv(rows, launch.rows), triton.cdiv(coarse_channels, launch.columns), models)](
        *(fine, weight, bias, gate, coarse, rows),
        *(fine.stride(0), weight.stride(0)),
        *(slope, gate_slope),
        **_constants((height // 2, width // 2), weight, slope, launch),
        BIAS=bias is not None,
        GATE=gate is not None,
        INNER=launch.inner,
    )
    return coarse


def up(
    coarse: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    gate: Tensor | None,
    slope: float,
    gate_slope: float,
    launch: "Launch | None" = None,
) -> Tensor:
    """`(transposed convolution(activation(coarse)) + bias) * derivative(gate)`."""
    models, batch, height, width, channels = coarse.shape
    fine_channels, kernel = weight.shape[-1], weight.shape[2]
    fine = coarse.new_empty(models, batch, 2 * height, 2 * width, fine_channels)
    rows = batch * height * width
    launch = launch or up_launch(rows, channels, fine_channels, kernel, models)
    to_image = is_image(fine_channels)
    tiles = 1 if to_image else 4 * triton.cdiv(fine_channels, launch.columns)
    (up_to_image_kernel if to_image else up_kernel)[(triton.cdiv(rows, launch.rows), tiles, models)](
        *(coarse, weight, bias, gate, fine, rows),
        *(coarse.stride(0), weight.stride(0)),
        *(slope, gate_slope),
        **_constants((height, width), weight, slope, launch),
        BIAS=bias is not None,
        GATE=gate is not None,
        INNER=launch.inner,
    )
    return fine


def _constants(side: tuple[int, int], weight: Tensor, slope: float, launch: "Launch") -> dict[str, Any]:
    """What `down` and `up` are compiled for: the coarse maps, the layer and its division into programs."""
    _, coarse, kernel, _, fine = weight.shape
    return {
        **{"HEIGHT": side[0], "WIDTH": side[1], "COARSE": coarse, "FINE": fine, "KERNEL": kernel},
        **{"ACTIVATION": slope != 1.0, "ROWS": launch.rows, "COLUMNS": launch.columns},
        **{"PRECISION": _precision(), "num_warps": launch.warps, "num_stages": launch.stages},
    }


def weight_gradient(
    coarse: Tensor,
    fine: Tensor,
    kernel: int,
    coarse_slope: float,
    fine_slope: float,
    parts: int,
    launch: "GradientLaunch | None" = None,
) -> Tensor:
    """Parts of the gradient of the weights, and of the sums of the values over all positions (`part_sizes`)."""
    models, batch, height, width, coarse_channels = coarse.shape
    fine_channels = fine.shape[-1]
    launch = launch or gradient_launch(coarse, fine, kernel, parts)
    tiles = triton.cdiv(coarse_channels, launch.rows) * triton.cdiv(kernel**2 * fine_channels, launch.columns)
    size = sum(part_sizes(coarse_channels, fine_channels, kernel))
    sums = coarse.new_empty(parts, models, size, dtype=torch.float32)
    weight_gradient_kernel[(tiles, parts, models)](
        *(coarse, fine, sums, batch * height * width, launch.per_part, models),
        *(coarse.stride(0), fine.stride(0)),
        *(coarse_slope, fine_slope),
        HEIGHT=height,
        WIDTH=width,
        COARSE=coarse_channels,
        FINE=fine_channels,
        KERNEL=kernel,
        COARSE_ACTIVATION=coarse_slope != 1.0,
        FINE_ACTIVATION=fine_slope != 1.0,
        ROWS=launch.rows,
        COLUMNS=launch.columns,
        PIXELS=launch.pixels,
        PRECISION=_precision(),
        num_warps=launch.warps,
        num_stages=launch.stages,
    )
    return sums


def _precision() -> str:
    """How products of float32 are computed: as PyTorch's convolutions compute them."""
    return "tf32" if torch.backends.cudnn.allow_tf32 else "ieee"


def part_sizes(coarse_channels: int, fine_channels: int, kernel: int) -> tuple[int, int, int]:
    """Numbers in a part: weights by coarse channel, tap and fine channel; sums by coarse channel, and by tap."""
    return coarse_channels * kernel**2 * fine_channels, coarse_channels, kernel**2 * fine_channels


class Launch(NamedTuple):
    """How `down` and `up` are divided into programs."""

    rows: int  # positions of a program
    columns: int  # channels of a program
    inner: int  # products per output that are read at once
    warps: int
    stages: int  # blocks that are read ahead


class GradientLaunch(NamedTuple):
    """How `weight_gradient` is divided into programs."""

    rows: int  # coarse channels of a program
    columns: int  # taps and fine channels of a program
    pixels: int  # positions that are multiplied at once
    per_part: int  # positions of each of the programs that share a sum
    warps: int
    stages: int


def product_launch(rows: int, columns: int, inner: int, models: int) -> Launch:
    """The largest blocks that leave two programs for each processor, or one; measured on an H200."""
    inner = max(triton.next_power_of_2(inner), 16)
    widest = max(min(triton.next_power_of_2(columns), 64), 16)
    narrow = min(widest, 32)
    blocks = (
        *((block_m, widest, 2 * PROCESSORS) for block_m in (128, 64, 32)),
        *((block_m, widest, PROCESSORS) for block_m in (128, 64, 32)),
        *((block_m, narrow, PROCESSORS) for block_m in (128, 64, 32, 16)),
        (16, narrow, 0),
    )

    def count(block_m: int, block_n: int) -> int:
        return triton.cdiv(rows, block_m) * triton.cdiv(columns, block_n) * models

    block_m, block_n = next((m, n) for m, n, least in blocks if count(m, n) >= least)
    programs = count(block_m, block_n)
    many = programs >= 2 * PROCESSORS  # enough to wait for memory in turns; otherwise a program reads ahead
    long = min(inner, 64 if programs >= 4 * PROCESSORS else 128)
    warps = 8 if block_m * block_n >= 8192 or (many and long == 128) else 4
    return Launch(block_m, block_n, long, warps, 1 if many else 3)


def up_launch(rows: int, coarse_channels: int, fine_channels: int, kernel: int, models: int) -> Launch:
    """The launch of `up`, whose outputs are sums of a quarter of the products."""
    if is_image(fine_channels):
        return Launch(128, 16, min(coarse_channels & -coarse_channels, 32), 4, 1)
    return product_launch(rows, fine_channels, (kernel // 2) ** 2 * coarse_channels, 4 * models)


def is_image(fine_channels: int) -> bool:
    """Whether fine maps have so few channels that four pixels are columns of one product."""
    return 4 * fine_channels <= 16


def gradient_launch(coarse: Tensor, fine: Tensor, kernel: int, parts: int) -> GradientLaunch:
    """Blocks of up to 64 channels by 128 columns for a sum in so many parts."""
    _, batch, height, width, _ = coarse.shape
    rows, columns = _gradient_block(coarse, fine, kernel)
    per_part = triton.cdiv(triton.cdiv(batch * height * width, parts), PIXELS) * PIXELS
    return GradientLaunch(rows, columns, PIXELS, per_part, 4, 3)


def gradient_parts(coarse: Tensor, fine: Tensor, kernel: int) -> int:
    """In how many parts a sum over all positions gives each processor about four programs."""
    models, batch, height, width, channels = coarse.shape
    rows, columns = _gradient_block(coarse, fine, kernel)
    tiles = triton.cdiv(channels, rows) * triton.cdiv(kernel**2 * fine.shape[-1], columns)
    most = 512 if rows * columns < 2048 else 64  # small parts are added quickly
    return max(1, min(4 * PROCESSORS // (tiles * models), most, batch * height * width // (2 * PIXELS)))


def _gradient_block(coarse: Tensor, fine: Tensor, kernel: int) -> tuple[int, int]:
    rows = max(min(triton.next_power_of_2(coarse.shape[-1]), 64), 16)
    return rows, max(min(triton.next_power_of_2(kernel**2 * fine.shape[-1]), 128), 16)
