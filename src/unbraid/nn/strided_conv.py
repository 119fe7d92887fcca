"""Convolutions and transposed convolutions of stride 2, with the activation before them.

For small models on a GPU, a convolution spends most of its time in short kernels for memory layouts and partial sums.
After `use_kernels` a layer is one kernel of `conv_kernels`, with its activation and bias, for one model as for a stack
of models. Otherwise a compiled layer is slices and one matrix product, and others are PyTorch's convolutions.
"""

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.nn import conv_ops

Maps = Float[Tensor, "_ _ _ _"]  # images or feature maps: batch, channels, height, width

# An image is split into four planes by the parity of row and column. Entry k of a kernel (along either axis) reads
# the plane of parity p, shifted by o, with (p, o) = TAPS[kernel size][k].
TAPS = {4: ((1, -1), (0, 0), (1, 0), (0, 1)), 2: ((0, 0), (1, 0))}
NO_ACTIVATION = 1.0  # the slope of a leaky ReLU that changes nothing
MAX_IMAGE_CHANNELS = 4  # outputs with more channels are feature maps


class DownConv(nn.Conv2d):
    """Convolution with a kernel of 4 (or 2) and stride 2, which halves the side.

    The input is zero-padded by `border` first.
    """

    def __init__(self, in_channels: int, out_channels: int, kernel: int = 4, border: int = 0) -> None:
        super().__init__(in_channels, out_channels, kernel, 2, padding=(kernel - 2) // 2 + border)
        self.border = border

    def forward(self, x: Maps, slope: float = NO_ACTIVATION) -> Maps:
        """The convolution of a leaky ReLU of x with the given slope below 0."""
        assert self.bias is not None
        if _uses_kernels(x, self.weight):
            return _by_kernel(conv_ops.down, _padded(x, self.border), self.weight, self.bias, slope)
        x = _activated(x, slope)
        if not _compiled_for_cuda(x):
            return super().forward(x)
        return downsample_by_matmul(_padded(x, self.border), self.weight, self.bias)


class UpConv(nn.ConvTranspose2d):
    """Transposed convolution with a kernel of 4 and stride 2, which doubles the side."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels, 4, 2, padding=1)

    def forward(self, x: Maps, slope: float = NO_ACTIVATION) -> Maps:  # type: ignore[override]
        """The transposed convolution of a leaky ReLU of x with the given slope below 0."""
        assert self.bias is not None
        if _uses_kernels(x, self.weight):
            return _by_kernel(conv_ops.up, x, self.weight, self.bias, slope)
        x = _activated(x, slope)
        if _compiled_for_cuda(x):
            return upsample_by_matmul(x, self.weight, self.bias)
        if self.out_channels <= MAX_IMAGE_CHANNELS and _eager_on_cpu(x, self.weight):
            return _UpConvToImage.apply(x, self.weight, self.bias)  # type: ignore[return-value]
        return super().forward(x)


class ConvStack(nn.Sequential):
    """Layers in sequence; a convolution of stride 2 applies the activation before it as it reads its input."""

    def forward(self, x: Tensor) -> Tensor:
        slope = NO_ACTIVATION  # of an activation that the next layer applies
        for layer, after in zip_longest(self, list(self)[1:]):
            if isinstance(after, DownConv | UpConv) and isinstance(layer, nn.ReLU | nn.LeakyReLU):
                slope = layer.negative_slope if isinstance(layer, nn.LeakyReLU) else 0.0
                continue
            x = layer(x, slope) if isinstance(layer, DownConv | UpConv) else layer(x)
            slope = NO_ACTIVATION
        return x


def order_weights(module: nn.Module, device: torch.device, *, all_layers: bool) -> None:
    """Stores weights with their channels last: all on a CPU or if asked, those that our kernels read on a GPU."""
    modules = [module] if all_layers or device.type == "cpu" else []
    if device.type == "cuda" and conv_ops.enabled:
        modules += [layer for layer in module.modules() if isinstance(layer, DownConv | UpConv)]
    for each in modules:
        each.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # 7 % faster, β-VAE at 64×64


def downsample_by_matmul(x: Maps, weight: Float[Tensor, "o i k k"], bias: Float[Tensor, " o"]) -> Maps:
    """The convolution as one matrix product over the k×k input pixels of every output pixel."""
    taps = TAPS[weight.shape[-1]]
    planes = [
        row.unbind(3) for row in x.permute(0, 2, 3, 1).unflatten(2, (-1, 2)).unflatten(1, (-1, 2)).unbind(2)
    ]
    patches = [_offset(planes[row][column], i, j) for row, i in taps for column, j in taps]
    product = torch.cat(patches, -1) @ weight.permute(2, 3, 1, 0).flatten(0, 2)
    return (product + bias.to(product.dtype)).permute(0, 3, 1, 2)


def upsample_by_matmul(x: Maps, weight: Float[Tensor, "i o 4 4"], bias: Float[Tensor, " o"]) -> Maps:
    """The transposed convolution as one matrix product: an input pixel gives 4×4 output pixels, overlaps are summed."""
    product = x.permute(0, 2, 3, 1) @ weight.permute(0, 2, 3, 1).flatten(1)
    taps = iter(product.chunk(16, -1))
    planes: list[list[Tensor | float]] = [[0.0, 0.0], [0.0, 0.0]]
    for row, i in TAPS[4]:
        for column, j in TAPS[4]:
            planes[row][column] = planes[row][column] + _offset(next(taps), -i, -j)
    image = torch.stack([torch.stack(row, 3) for row in planes], 2).flatten(3, 4).flatten(1, 2)  # type: ignore[arg-type]
    return (image + bias.to(image.dtype)).permute(0, 3, 1, 2)


class _UpConvToImage(torch.autograd.Function):
    """The transposed convolution to an image, on a CPU.

    PyTorch computes sixteen output channels here and drops all but one or three, which takes 13 ms of a 100 ms β-VAE
    step at 64×64; a matrix product followed by `fold` takes 3 ms. The backward pass is PyTorch's.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        # The contribution of each input pixel to the 4×4 output pixels around it.
        patches = weight.flatten(1).t() @ x.flatten(2)
        side = (2 * x.shape[2], 2 * x.shape[3])
        return F.fold(patches, side, 4, padding=1, stride=2) + bias[:, None, None]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[:2])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        # Stride, padding, dilation, transposed, output padding, groups.
        geometry = ((2, 2), (1, 1), (1, 1), True, (0, 0), 1)
        return torch.ops.aten.convolution_backward(
            gradients[0], x, weight, [weight.shape[1]], *geometry, ctx.needs_input_grad
        )


def _offset(plane: Float[Tensor, "b h w c"], rows: int, columns: int) -> Float[Tensor, "b h w c"]:
    """The plane shifted by a number of rows and columns, zero-padded."""
    height, width = plane.shape[1:3]
    overlap = plane[:, max(rows, 0) : height + min(rows, 0), max(columns, 0) : width + min(columns, 0)]
    return F.pad(overlap, (0, 0, max(-columns, 0), max(columns, 0), max(-rows, 0), max(rows, 0)))


def _by_kernel(operator: Callable[..., Tensor], x: Maps, weight: Tensor, bias: Tensor, slope: float) -> Maps:
    """The layer of one model, whose maps have their channels last inside."""
    if torch.is_autocast_enabled("cuda"):
        x = x.to(torch.get_autocast_dtype("cuda"))
    maps = x.permute(0, 2, 3, 1)[None]
    return operator(maps, weight[None], bias[None], None, slope, NO_ACTIVATION)[0].permute(0, 3, 1, 2)


def _uses_kernels(x: Tensor, weight: Tensor) -> bool:
    return conv_ops.enabled and x.device == weight.device and conv_ops.supports(x.dtype, weight)


def _activated(x: Tensor, slope: float) -> Tensor:
    if slope == NO_ACTIVATION:
        return x
    return F.leaky_relu(x, slope) if slope else F.relu(x)


def _padded(x: Maps, border: int) -> Maps:
    return F.pad(x, (border,) * 4) if border else x


def _compiled_for_cuda(x: Tensor) -> bool:
    return x.is_cuda and torch.compiler.is_compiling()


def _eager_on_cpu(x: Tensor, weight: Tensor) -> bool:
    mixed_precision = x.dtype != weight.dtype or torch.is_autocast_enabled("cpu")
    # Tracing does not support custom autograd functions.
    traced = torch.compiler.is_compiling() or torch.jit.is_tracing()  # type: ignore[attr-defined]
    return x.is_cpu and not mixed_precision and not traced
