"""The gradient of the weights of convolutions of stride 2 for a stack of models, in Triton."""

# ruff: noqa: ANN001, ANN201
# pyright: reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false

from typing import no_type_check

import triton
import triton.language as tl

from unbraid.nn.conv_kernels import leaky


@triton.jit
@no_type_check
def weight_gradient_kernel(
    coarse,
    fine,
    parts,
    pixels,
    per_part,
    models,
    coarse_stride,
    fine_stride,
    coarse_slope,
    fine_slope,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    COARSE: tl.constexpr,
    FINE: tl.constexpr,
    KERNEL: tl.constexpr,
    COARSE_ACTIVATION: tl.constexpr,
    FINE_ACTIVATION: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    PIXELS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """A row is a coarse channel, a column a tap and fine channel; a program sums over a part of the positions."""
    WIDE: tl.constexpr = KERNEL * KERNEL * FINE
    SIZE: tl.constexpr = COARSE * WIDE + COARSE + WIDE
    TILES: tl.constexpr = (WIDE + COLUMNS - 1) // COLUMNS
    model = tl.program_id(2).to(tl.int64)
    coarse += model * coarse_stride
    fine += model * fine_stride
    parts += (tl.program_id(1) * models + model) * SIZE
    row = tl.program_id(0) // TILES * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(0) % TILES * COLUMNS + tl.arange(0, COLUMNS)
    real_row, real_column = row < COARSE, column < WIDE
    down = column // FINE // KERNEL
    right = column // FINE % KERNEL
    offset = (down * 2 * WIDTH + right) * FINE + column % FINE
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    # Sums are products with ones, which tensor cores do faster than reductions.
    row_sum = tl.zeros([ROWS, 16], tl.float32)
    column_sum = tl.zeros([16, COLUMNS], tl.float32)
    start = tl.program_id(1) * per_part
    for first in range(start, tl.minimum(start + per_part, pixels), PIXELS):
        pixel = first + tl.arange(0, PIXELS)
        real = pixel < pixels
        top = 2 * (pixel // WIDTH % HEIGHT) - (KERNEL - 2) // 2
        left = 2 * (pixel % WIDTH) - (KERNEL - 2) // 2
        corner = ((pixel // (HEIGHT * WIDTH) * 2 * HEIGHT + top) * 2 * WIDTH + left) * FINE
        y = top[:, None] + down[None, :]
        x = left[:, None] + right[None, :]
        inside = (y >= 0) & (y < 2 * HEIGHT) & (x >= 0) & (x < 2 * WIDTH)
        inside = inside & real[:, None] & real_column[None, :]
        under = tl.load(
            fine + corner[:, None] + offset[None, :], mask=inside, other=0.0, cache_modifier=".ca"
        )
        over = tl.load(
            coarse + pixel[None, :] * COARSE + row[:, None],
            mask=real_row[:, None] & real[None, :],
            other=0.0,
            cache_modifier=".ca",
        )
        if COARSE_ACTIVATION:
            over = leaky(over, coarse_slope)
        if FINE_ACTIVATION:
            under = leaky(under, fine_slope)
        total = tl.dot(over, under, total, input_precision=PRECISION)
        row_sum = tl.dot(over, tl.full([PIXELS, 16], 1.0, over.dtype), row_sum, input_precision=PRECISION)
        column_sum = tl.dot(
            tl.full([16, PIXELS], 1.0, under.dtype), under, column_sum, input_precision=PRECISION
        )
    target = row[:, None] * WIDE + column[None, :]
    tl.store(parts + target, total, mask=real_row[:, None] & real_column[None, :])
    if tl.program_id(0) % TILES == 0:
        tl.store(parts + COARSE * WIDE + row, tl.sum(row_sum, 1) / 16, mask=real_row)
    if tl.program_id(0) < TILES:
        tl.store(parts + COARSE * WIDE + COARSE + column, tl.sum(column_sum, 0) / 16, mask=real_column)
