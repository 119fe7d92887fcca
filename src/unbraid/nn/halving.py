"""Convolutions that halve an image and transposed ones that double it, also written as matrix products.

A model of this field is small: on a GPU the time of its convolutions goes into many short kernels for layouts and
partial sums. Written as slices and one product, the compiler joins all slices, biases and activations between two
products into one kernel, and many models at once become batched products.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

Maps = Float[Tensor, "_ _ _ _"]  # images or feature maps: batch, channels, height, width

# An image is four planes, by the parity of row and column. Along each axis, tap k of a kernel of the given size meets
# the plane of this parity, this many pixels ahead.
TAPS = {4: ((1, -1), (0, 0), (1, 0), (0, 1)), 2: ((0, 0), (1, 0))}
FEW = 4  # channels of an image, not of a feature map


class Halving(nn.Conv2d):
    """A convolution with a kernel of 4 (or 2) and stride 2: out comes half the side.

    A `border` of zeros is put around the input first.
    """

    def __init__(self, before: int, after: int, kernel: int = 4, border: int = 0) -> None:
        super().__init__(before, after, kernel, 2, padding=(kernel - 2) // 2 + border)
        self.border = border

    def forward(self, x: Maps) -> Maps:
        if not _compiled_for_cuda(x):
            return super().forward(x)
        assert self.bias is not None
        return halve(F.pad(x, (self.border,) * 4) if self.border else x, self.weight, self.bias)


class Doubling(nn.ConvTranspose2d):
    """A transposed convolution with a kernel of 4 and stride 2: out comes twice the side."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__(before, after, 4, 2, padding=1)

    def forward(self, x: Maps) -> Maps:  # type: ignore[override]
        assert self.bias is not None
        if _compiled_for_cuda(x):
            return double(x, self.weight, self.bias)
        if self.out_channels <= FEW and _eager_on_cpu(x, self.weight):
            return _DoubleToFew.apply(x, self.weight, self.bias)  # type: ignore[return-value]
        return super().forward(x)


def halve(x: Maps, weight: Float[Tensor, "o i k k"], bias: Float[Tensor, " o"]) -> Maps:
    """The convolution as one product: every output pixel meets the k×k input pixels around it."""
    taps = TAPS[weight.shape[-1]]
    planes = [
        row.unbind(3) for row in x.permute(0, 2, 3, 1).unflatten(2, (-1, 2)).unflatten(1, (-1, 2)).unbind(2)
    ]
    met = [_ahead(planes[row][column], i, j) for row, i in taps for column, j in taps]
    product = torch.cat(met, -1) @ weight.permute(2, 3, 1, 0).flatten(0, 2)
    return (product + bias.to(product.dtype)).permute(0, 3, 1, 2)


def double(x: Maps, weight: Float[Tensor, "i o 4 4"], bias: Float[Tensor, " o"]) -> Maps:
    """The transposed convolution as one product: every input pixel gives 4×4 pixels, and overlaps add up."""
    product = x.permute(0, 2, 3, 1) @ weight.permute(0, 2, 3, 1).flatten(1)
    given = iter(product.chunk(16, -1))
    planes: list[list[Tensor | float]] = [[0.0, 0.0], [0.0, 0.0]]
    for row, i in TAPS[4]:
        for column, j in TAPS[4]:
            planes[row][column] = planes[row][column] + _ahead(next(given), -i, -j)
    image = torch.stack([torch.stack(row, 3) for row in planes], 2).flatten(3, 4).flatten(1, 2)  # type: ignore[arg-type]
    return (image + bias.to(image.dtype)).permute(0, 3, 1, 2)


class _DoubleToFew(torch.autograd.Function):
    """The transposed convolution to an image, on a CPU.

    PyTorch's computes sixteen channels there and drops all but one or three, 13 ms of a β-VAE's step of 100 ms at
    64×64; as a product whose overlaps are folded it takes 3 ms. Its backward pass has no such fault and is kept.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        given = weight.flatten(1).t() @ x.flatten(2)  # what each pixel gives to the 4×4 pixels around it
        side = (2 * x.shape[2], 2 * x.shape[3])
        return F.fold(given, side, 4, padding=1, stride=2) + bias[:, None, None]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[:2])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        geometry = (
            (2, 2),
            (1, 1),
            (1, 1),
            True,
            (0, 0),
            1,
        )  # stride, padding, dilation, transposed, …, groups
        return torch.ops.aten.convolution_backward(
            gradients[0], x, weight, [weight.shape[1]], *geometry, ctx.needs_input_grad
        )


def _ahead(plane: Float[Tensor, "b h w c"], rows: int, columns: int) -> Float[Tensor, "b h w c"]:
    """The plane seen some rows and columns ahead, with zeros beyond its border."""
    height, width = plane.shape[1:3]
    inside = plane[:, max(rows, 0) : height + min(rows, 0), max(columns, 0) : width + min(columns, 0)]
    return F.pad(inside, (0, 0, max(-columns, 0), max(columns, 0), max(-rows, 0), max(rows, 0)))


def _compiled_for_cuda(x: Tensor) -> bool:
    return x.is_cuda and torch.compiler.is_compiling()


def _eager_on_cpu(x: Tensor, weight: Tensor) -> bool:
    mixed = x.dtype != weight.dtype or torch.is_autocast_enabled("cpu")
    # Recordings know torch's own operations alone.
    recorded = torch.compiler.is_compiling() or torch.jit.is_tracing()  # type: ignore[attr-defined]
    return x.is_cpu and not mixed and not recorded
