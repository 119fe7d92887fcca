"""Convolutions of stride 2 and their gradients for a stack of models, in Triton: one launch for all models.

Each kernel is a matrix product on tensor cores whose operands are gathered from the maps as they are needed; nothing is
unfolded in memory. `coarse` maps have half the side of `fine` maps:

- `down`: fine to coarse, the convolution, and the gradient of the transposed convolution's input;
- `up`: coarse to fine, the transposed convolution, and the gradient of the convolution's input;
- `weight_gradient` (conv_gradient_kernel.py): the products of coarse and fine values, summed over all positions.

The activation before a convolution is applied as its input is read (slope 0: ReLU, 1: none). Its derivative multiplies
the gradient as that is written (`gate`: the values before the activation). Sums are in float32 and of a fixed order.
"""

# ruff: noqa: ANN001, ANN201
# pyright: reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def leaky(values, slope):
    return tl.where(values > 0, values, (values * slope).to(values.dtype))


@triton.jit
@no_type_check
def write(
    total,
    maps,
    target,
    real_row,
    real_column,
    bias,
    bias_index,
    gate,
    gate_slope,
    BIAS: tl.constexpr,
    GATE: tl.constexpr,
):
    """Adds the bias, multiplies by the derivative of the activation before these maps, and stores them."""
    real = real_row[:, None] & real_column[None, :]
    if BIAS:
        total += tl.load(bias + bias_index, mask=real_column, other=0.0)[None, :]
    if GATE:
        before = tl.load(gate + target, mask=real, other=0.0)
        total = tl.where(before > 0, total, total * gate_slope)
    tl.store(maps + target, total.to(maps.dtype.element_ty), mask=real)


@triton.jit
@no_type_check
def down_kernel(
    fine,
    weight,
    bias,
    gate,
    coarse,
    rows,
    fine_stride,
    weight_stride,
    slope,
    gate_slope,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    COARSE: tl.constexpr,
    FINE: tl.constexpr,
    KERNEL: tl.constexpr,
    BIAS: tl.constexpr,
    GATE: tl.constexpr,
    ACTIVATION: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    INNER: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """A row is an output position of an image, a column an output channel, an inner index a tap and input channel."""
    ALL: tl.constexpr = KERNEL * KERNEL * FINE
    model = tl.program_id(2).to(tl.int64)
    fine += model * fine_stride
    weight += model * weight_stride
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    real_row, real_column = row < rows, column < COARSE
    top = 2 * (row // WIDTH % HEIGHT) - (KERNEL - 2) // 2
    left = 2 * (row % WIDTH) - (KERNEL - 2) // 2
    corner = ((row // (HEIGHT * WIDTH) * 2 * HEIGHT + top) * 2 * WIDTH + left) * FINE
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for first in range(0, ALL, INNER):
        inner = first + tl.arange(0, INNER)
        tap = inner // FINE
        channel = inner % FINE
        down = tap // KERNEL
        right = tap % KERNEL
        y = top[:, None] + down[None, :]
        x = left[:, None] + right[None, :]
        inside = (y >= 0) & (y < 2 * HEIGHT) & (x >= 0) & (x < 2 * WIDTH)
        inside = inside & real_row[:, None] & (inner < ALL)[None, :]
        offset = (down * 2 * WIDTH + right) * FINE + channel
        values = tl.load(
            fine + corner[:, None] + offset[None, :], mask=inside, other=0.0, cache_modifier=".ca"
        )
        if ACTIVATION:
            values = leaky(values, slope)
        exists = (inner < ALL)[:, None] & real_column[None, :]
        weights = tl.load(
            weight + inner[:, None] + column[None, :] * ALL, mask=exists, other=0.0, cache_modifier=".ca"
        )
        total = tl.dot(values, weights.to(values.dtype), total, input_precision=PRECISION)
    target = (model * rows + row)[:, None] * COARSE + column[None, :]
    write(
        total,
        coarse,
        target,
        real_row,
        real_column,
        bias,
        model * COARSE + column,
        gate,
        gate_slope,
        BIAS,
        GATE,
    )


@triton.jit
@no_type_check
def up_kernel(
    coarse,
    weight,
    bias,
    gate,
    fine,
    rows,
    coarse_stride,
    weight_stride,
    slope,
    gate_slope,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    COARSE: tl.constexpr,
    FINE: tl.constexpr,
    KERNEL: tl.constexpr,
    BIAS: tl.constexpr,
    GATE: tl.constexpr,
    ACTIVATION: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    INNER: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """A row is an input position of an image, a column an output channel of one of its 2×2 output pixels.

    The output pixel in row u of the two rows of a position reads that position and its neighbors d rows away whose
    kernel row (KERNEL - 2) / 2 + u - 2 d exists; columns likewise. A program has one of the four pixels.
    """
    PAD: tl.constexpr = (KERNEL - 2) // 2
    SIDE: tl.constexpr = KERNEL // 2  # neighbors along either axis
    ALL: tl.constexpr = SIDE * SIDE * COARSE
    TILES: tl.constexpr = (FINE + COLUMNS - 1) // COLUMNS
    model = tl.program_id(2).to(tl.int64)
    coarse += model * coarse_stride
    weight += model * weight_stride
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    real_row = row < rows
    i = row // WIDTH % HEIGHT
    j = row % WIDTH
    u = tl.program_id(1) // TILES // 2
    v = tl.program_id(1) // TILES % 2
    channel = tl.program_id(1) % TILES * COLUMNS + tl.arange(0, COLUMNS)
    real_column = channel < FINE
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for first in range(0, ALL, INNER):
        inner = first + tl.arange(0, INNER)
        neighbor = inner // COARSE
        down = neighbor // SIDE * (2 * u - 1)
        right = neighbor % SIDE * (2 * v - 1)
        y = i[:, None] + down[None, :]
        x = j[:, None] + right[None, :]
        inside = (y >= 0) & (y < HEIGHT) & (x >= 0) & (x < WIDTH)
        inside = inside & real_row[:, None] & (inner < ALL)[None, :]
        offset = (down * WIDTH + right) * COARSE + inner % COARSE
        values = tl.load(
            coarse + row[:, None] * COARSE + offset[None, :], mask=inside, other=0.0, cache_modifier=".ca"
        )
        if ACTIVATION:
            values = leaky(values, slope)
        tap = (PAD + u - 2 * down) * KERNEL + PAD + v - 2 * right
        entry = ((inner % COARSE * KERNEL * KERNEL + tap) * FINE)[:, None] + channel[None, :]
        exists = (inner < ALL)[:, None] & real_column[None, :]
        weights = tl.load(weight + entry, mask=exists, other=0.0, cache_modifier=".ca")
        total = tl.dot(values, weights.to(values.dtype), total, input_precision=PRECISION)
    pixel = (row // (HEIGHT * WIDTH) * 2 * HEIGHT + 2 * i + u) * 2 * WIDTH + 2 * j + v
    target = (model * rows * 4 + pixel)[:, None] * FINE + channel[None, :]
    write(
        total, fine, target, real_row, real_column, bias, model * FINE + channel, gate, gate_slope, BIAS, GATE
    )


@triton.jit
@no_type_check
def up_to_image_kernel(
    coarse,
    weight,
    bias,
    gate,
    fine,
    rows,
    coarse_stride,
    weight_stride,
    slope,
    gate_slope,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    COARSE: tl.constexpr,
    FINE: tl.constexpr,
    KERNEL: tl.constexpr,
    BIAS: tl.constexpr,
    GATE: tl.constexpr,
    ACTIVATION: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    INNER: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """`up_kernel` to few channels: a column is a channel of any of the four output pixels, which read 3×3 neighbors.

    Weights are read in the order of memory. A product with a matrix of zeros and ones then brings the taps of a
    neighbor under the columns that read it.
    """
    PAD: tl.constexpr = (KERNEL - 2) // 2
    SIDE: tl.constexpr = 2 * PAD + 1  # neighbors along either axis
    WIDE: tl.constexpr = KERNEL * KERNEL * FINE
    PADDED: tl.constexpr = 16 if WIDE <= 16 else 32 if WIDE <= 32 else 64
    model = tl.program_id(2).to(tl.int64)
    coarse += model * coarse_stride
    weight += model * weight_stride
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    real_row = row < rows
    i = row // WIDTH % HEIGHT
    j = row % WIDTH
    column = tl.arange(0, COLUMNS)
    u = column // FINE // 2
    v = column // FINE % 2
    channel = column % FINE
    real_column = column < 4 * FINE
    entry = tl.arange(0, PADDED)
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for first in range(0, COARSE, INNER):
        inner = first + tl.arange(0, INNER)
        pointers = weight + inner[:, None] * WIDE + entry[None, :]
        table = tl.load(pointers, mask=(entry < WIDE)[None, :], other=0.0).to(coarse.dtype.element_ty)
        for neighbor in range(SIDE * SIDE):
            down = neighbor // SIDE - PAD
            right = neighbor % SIDE - PAD
            inside = real_row & (i + down >= 0) & (i + down < HEIGHT) & (j + right >= 0) & (j + right < WIDTH)
            position = row + down * WIDTH + right
            values = tl.load(
                coarse + position[:, None] * COARSE + inner[None, :],
                mask=inside[:, None],
                other=0.0,
                cache_modifier=".ca",
            )
            if ACTIVATION:
                values = leaky(values, slope)
            a = PAD + u - 2 * down
            b = PAD + v - 2 * right
            exists = real_column & (a >= 0) & (a < KERNEL) & (b >= 0) & (b < KERNEL)
            read = tl.where(exists, (a * KERNEL + b) * FINE + channel, -1)
            chosen = (entry[:, None] == read[None, :]).to(table.dtype)
            weights = tl.dot(table, chosen, input_precision=PRECISION).to(table.dtype)
            total = tl.dot(values, weights, total, input_precision=PRECISION)
    pixel = (row // (HEIGHT * WIDTH) * 2 * HEIGHT + 2 * i) * 2 * WIDTH + 2 * j
    target = (model * rows * 4 + pixel)[:, None] * FINE + ((u * 2 * WIDTH + v) * FINE + channel)[None, :]
    write(
        total, fine, target, real_row, real_column, bias, model * FINE + channel, gate, gate_slope, BIAS, GATE
    )
