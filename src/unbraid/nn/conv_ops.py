"""The convolutions of stride 2 as torch operators, for one model and for a stack of models.

The operators take maps with their channels last and one more first dimension, the model. Under `vmap` that dimension
is the stack, so that a layer of many models is one launch. The gradients of each operator are made of the others, and
losses may contain gradients. The operators need a CUDA device and Triton, or Triton's interpreter.
"""

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.library import custom_op

# Set by `use_kernels`, and read by every convolution: a plain attribute, so that compiled code checks it, too.
enabled = False


def use_kernels(device: torch.device) -> bool:
    """Lets convolutions on a CUDA device use the kernels where they can be built; says on one line why they cannot.

    Call it before trainings begin. It is not the default: the kernels as they are now were not run on a GPU yet.
    """
    global enabled
    if device.type == "cuda" and not enabled:
        try:
            _try_kernels(device)
            enabled = True
        except ImportError:
            pass  # PyTorch without Triton
        except Exception as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            print(
                f"PyTorch's convolutions are used, because Unbraid's cannot be built: {reason}",
                file=sys.stderr,
            )
    return enabled


def _try_kernels(device: torch.device) -> None:
    """Builds each kernel once, for maps and for images."""
    for channels in (16, 1):
        fine = torch.ones(1, 1, 4, 4, channels, device=device)
        weight = torch.ones(1, 16, channels, 4, 4, device=device)
        coarse = down(fine, weight, None, None, 0.0, 1.0)
        up(coarse, weight, None, fine, 0.0, 0.0)
        weight_gradient(coarse, fine, 4, 1.0, 0.0, 1)


def supports(dtype: torch.dtype, weight: Tensor) -> bool:
    """Whether the kernels take maps of a type and weights (coarse channels, fine channels, kernel, kernel)."""
    coarse, fine, kernel, _ = weight.shape
    few = fine <= 4 and kernel**2 * fine <= 64  # channels of an image
    return (
        dtype in (torch.float32, torch.bfloat16)
        and kernel in (2, 4)
        and coarse % 16 == 0
        and (few or fine % 16 == 0)
    )


@custom_op("unbraid::down", mutates_args=())
def down(
    fine: Tensor, weight: Tensor, bias: Tensor | None, gate: Tensor | None, slope: float, gate_slope: float
) -> Tensor:
    """`(convolution(activation(fine)) + bias) * derivative(gate)`, which halves the side."""
    from unbraid.nn import conv_launch

    return conv_launch.down(_maps(fine), _weights(weight), _whole(bias), _whole(gate), slope, gate_slope)


@down.register_fake
def _(fine: Tensor, weight: Tensor, *rest: Any) -> Tensor:
    models, batch, height, width, _ = fine.shape
    return fine.new_empty(models, batch, height // 2, width // 2, weight.shape[1])


@custom_op("unbraid::up", mutates_args=())
def up(
    coarse: Tensor, weight: Tensor, bias: Tensor | None, gate: Tensor | None, slope: float, gate_slope: float
) -> Tensor:
    """`(transposed convolution(activation(coarse)) + bias) * derivative(gate)`, which doubles the side."""
    from unbraid.nn import conv_launch

    return conv_launch.up(_maps(coarse), _weights(weight), _whole(bias), _whole(gate), slope, gate_slope)


@up.register_fake
def _(coarse: Tensor, weight: Tensor, *rest: Any) -> Tensor:
    models, batch, height, width, _ = coarse.shape
    return coarse.new_empty(models, batch, 2 * height, 2 * width, weight.shape[2])


@custom_op("unbraid::weight_gradient", mutates_args=())
def weight_gradient(
    coarse: Tensor, fine: Tensor, kernel: int, coarse_slope: float, fine_slope: float, parts: int
) -> Tensor:
    """Parts (part, model, number) of the gradient of the weights and biases; their sum is the gradient.

    Their number is an argument, so that compiled code that is kept on disk agrees with any way to choose it.
    """
    from unbraid.nn import conv_launch

    return conv_launch.weight_gradient(_maps(coarse), _maps(fine), kernel, coarse_slope, fine_slope, parts)


@weight_gradient.register_fake
def _(coarse: Tensor, fine: Tensor, kernel: int, *rest: Any) -> Tensor:
    models, channels, taps = len(coarse), (coarse.shape[-1], fine.shape[-1]), kernel**2
    size = channels[0] * taps * channels[1] + channels[0] + taps * channels[1]
    return coarse.new_empty(rest[-1], models, size, dtype=torch.float32)


def _sums(
    coarse: Tensor, fine: Tensor, kernel: int, coarse_slope: float, fine_slope: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient of the weights, and the sums of the values of each coarse and each fine channel."""
    from unbraid.nn import conv_launch

    parts = conv_launch.gradient_parts(coarse, fine, kernel)
    sums = weight_gradient(coarse, fine, kernel, coarse_slope, fine_slope, parts).sum(0)
    return _unpack(sums, coarse.shape[-1], fine.shape[-1], kernel)


def _unpack(part: Tensor, coarse: int, fine: int, kernel: int) -> tuple[Tensor, Tensor, Tensor]:
    weights, coarse_sum, taps = part.split((coarse * kernel**2 * fine, coarse, kernel**2 * fine), 1)
    weights = weights.view(-1, coarse, kernel, kernel, fine).permute(0, 1, 4, 2, 3)
    first = (kernel - 2) // 2  # two neighboring taps along either axis read every fine pixel once
    fine_sum = taps.view(-1, kernel, kernel, fine)[:, first : first + 2, first : first + 2].sum((1, 2))
    return weights, coarse_sum, fine_sum


def _save_maps(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    maps, weight, bias, gate, ctx.slope, ctx.gate_slope = inputs
    ctx.save_for_backward(maps, weight, gate)
    ctx.bias = bias is not None


def _gated(ctx: Any, gradient: Tensor, maps: Tensor, gate: Tensor | None) -> Tensor:
    if gate is not None:
        gradient = gradient * torch.where(gate > 0, 1.0, ctx.gate_slope).to(gradient.dtype)
    return gradient.to(maps.dtype)


def _before_activation(ctx: Any, maps: Tensor) -> Tensor | None:
    return None if ctx.slope == 1.0 else maps


def _down_backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    fine, weight, gate = ctx.saved_tensors
    gradient = _gated(ctx, gradient, fine, gate)
    to_fine = to_weight = to_bias = None
    if ctx.needs_input_grad[0]:
        to_fine = up(gradient, weight, None, _before_activation(ctx, fine), 1.0, ctx.slope)
    if ctx.needs_input_grad[1] or ctx.needs_input_grad[2]:
        to_weight, to_bias, _ = _sums(gradient, fine, weight.shape[-1], 1.0, ctx.slope)
    return to_fine, to_weight, to_bias if ctx.bias else None, None, None, None


def _up_backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    coarse, weight, gate = ctx.saved_tensors
    gradient = _gated(ctx, gradient, coarse, gate)
    to_coarse = to_weight = to_bias = None
    if ctx.needs_input_grad[0]:
        to_coarse = down(gradient, weight, None, _before_activation(ctx, coarse), 1.0, ctx.slope)
    if ctx.needs_input_grad[1] or ctx.needs_input_grad[2]:
        to_weight, _, to_bias = _sums(coarse, gradient, weight.shape[-1], ctx.slope, 1.0)
    return to_coarse, to_weight, to_bias if ctx.bias else None, None, None, None


def _save_both(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    coarse, fine, ctx.kernel, ctx.coarse_slope, ctx.fine_slope, _ = inputs
    ctx.save_for_backward(coarse, fine)


def _weight_gradient_backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    """The gradients of a sum of products; `gradient` has the same values for every part, since parts are summed."""
    coarse, fine = ctx.saved_tensors
    channels, first = (coarse.shape[-1], fine.shape[-1]), (ctx.kernel - 2) // 2
    weights, of_coarse, taps = gradient[0].split(
        (channels[0] * ctx.kernel**2 * channels[1], channels[0], ctx.kernel**2 * channels[1]), 1
    )
    weights = weights.reshape(-1, channels[0], ctx.kernel, ctx.kernel, channels[1]).permute(0, 1, 4, 2, 3)
    of_fine = taps.reshape(-1, ctx.kernel, ctx.kernel, channels[1])[:, first, first]
    gates = None if ctx.coarse_slope == 1.0 else coarse, None if ctx.fine_slope == 1.0 else fine
    to_coarse = down(fine, weights, of_coarse, gates[0], ctx.fine_slope, ctx.coarse_slope)
    to_fine = up(coarse, weights, of_fine, gates[1], ctx.coarse_slope, ctx.fine_slope)
    return to_coarse, to_fine, None, None, None, None


down.register_autograd(_down_backward, setup_context=_save_maps)
up.register_autograd(_up_backward, setup_context=_save_maps)
weight_gradient.register_autograd(_weight_gradient_backward, setup_context=_save_both)


def _stacked(operator: Callable[..., Tensor]) -> Callable[..., tuple[Tensor, int]]:
    """The rule of an operator under `vmap`: the new dimension joins that of the models."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Tensor, int]:
        joined = _join_all(info.batch_size, in_dims, args)
        return operator(*joined).unflatten(0, (info.batch_size, -1)), 0

    return rule


def _stacked_gradient(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Tensor, int]:
    """The rule of `weight_gradient`; more models need fewer parts each."""
    from unbraid.nn import conv_launch

    *joined, _ = _join_all(info.batch_size, in_dims, args)
    parts = conv_launch.gradient_parts(*joined[:3])
    return weight_gradient(*joined, parts).unflatten(1, (info.batch_size, -1)), 1


def _join_all(size: int, in_dims: tuple[int | None, ...], args: tuple[Any, ...]) -> list[Any]:
    return [
        _join_models(arg, dim, size) if isinstance(arg, Tensor) else arg
        for arg, dim in zip(args, in_dims, strict=True)
    ]


def _join_models(tensor: Tensor, dim: int | None, size: int) -> Tensor:
    """The tensor with `size` times as many models; those of a tensor without the new dimension repeat."""
    tensor = tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
    return tensor.flatten(0, 1)


down.register_vmap(_stacked(down))
up.register_vmap(_stacked(up))
weight_gradient.register_vmap(_stacked_gradient)


def _maps(maps: Tensor) -> Tensor:
    """Maps whose channels are last in memory; models may repeat the same memory."""
    return maps if maps[0].is_contiguous() else maps.contiguous()


def _weights(weight: Tensor) -> Tensor:
    """Weights with their fine channels last, as they are in memory where a module is `channels_last`."""
    return _maps(weight.permute(0, 1, 3, 4, 2))


def _whole(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.contiguous()
