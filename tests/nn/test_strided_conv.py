"""Convolutions as matrix products, src/unbraid/nn/strided_conv.py."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

from unbraid.nn.strided_conv import (
    ConvStack,
    DownConv,
    UpConv,
    downsample_by_matmul,
    order_weights,
    upsample_by_matmul,
)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("kernel", [4, 2])
def test_halving_is_a_convolution_with_its_gradients(kernel: int) -> None:
    x, weight, bias = random(2, 3, 8, 6), random(5, 3, kernel, kernel), random(5)
    expected = F.conv2d(x, weight, bias, 2, (kernel - 2) // 2)
    assert_close(downsample_by_matmul(x, weight, bias), expected)
    direction = torch.randn_like(expected)
    assert_close(
        torch.autograd.grad((downsample_by_matmul(x, weight, bias) * direction).sum(), (x, weight, bias)),
        torch.autograd.grad((expected * direction).sum(), (x, weight, bias)),
    )


def test_doubling_is_a_transposed_convolution_with_its_gradients() -> None:
    x, weight, bias = random(2, 3, 4, 6), random(3, 5, 4, 4), random(5)
    expected = F.conv_transpose2d(x, weight, bias, 2, 1)
    assert_close(upsample_by_matmul(x, weight, bias), expected)
    direction = torch.randn_like(expected)
    assert_close(
        torch.autograd.grad((upsample_by_matmul(x, weight, bias) * direction).sum(), (x, weight, bias)),
        torch.autograd.grad((expected * direction).sum(), (x, weight, bias)),
    )


def test_stacked_models_give_the_result_of_each_model() -> None:
    x, weight, bias = random(3, 2, 2, 8, 8), random(3, 4, 2, 4, 4), random(3, 4)
    assert_close(
        torch.vmap(downsample_by_matmul)(x, weight, bias)[1], downsample_by_matmul(x[1], weight[1], bias[1])
    )


def test_the_layers_halve_and_double_the_side() -> None:
    small = DownConv(3, 8)(torch.rand(2, 3, 32, 32))
    assert small.shape == (2, 8, 16, 16)
    assert UpConv(8, 3)(small).shape == (2, 3, 32, 32)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("order", [torch.contiguous_format, torch.channels_last])
def test_upsampling_to_an_image_on_a_cpu_is_the_transposed_convolution_of_pytorch(
    channels: int, order: torch.memory_format
) -> None:
    torch.manual_seed(0)
    layer = UpConv(5, channels).double().to(memory_format=order)  # type: ignore[call-overload]
    x = torch.randn(3, 5, 6, 6, dtype=torch.float64).to(memory_format=order).requires_grad_()
    plain = F.conv_transpose2d(x, layer.weight, layer.bias, 2, 1)
    ours, wanted = layer(x), [x, *layer.parameters()]
    assert_close(ours, plain)
    assert "UpConvToImage" in type(ours.grad_fn).__name__
    toward = torch.randn_like(plain)
    assert_close(torch.autograd.grad(ours, wanted, toward), torch.autograd.grad(plain, wanted, toward))


def test_doubling_to_an_image_can_be_stacked_and_differentiated_twice() -> None:
    torch.manual_seed(0)
    layer = UpConv(2, 1).double()
    x = torch.randn(4, 2, 2, 3, 3, dtype=torch.float64)
    assert_close(torch.func.vmap(layer)(x), torch.stack([layer(one) for one in x]))
    gradient = torch.func.vmap(torch.func.grad(lambda one: layer(one).square().sum()))(x)
    assert_close(gradient[1], torch.func.grad(lambda one: layer(one).square().sum())(x[1]))
    x0, *parameters = (t.detach().requires_grad_() for t in (x[0], layer.weight, layer.bias))
    assert torch.autograd.gradgradcheck(
        lambda x, w, b: torch.func.functional_call(layer, {"weight": w, "bias": b}, (x,)), (x0, *parameters)
    )


def test_mixed_precision_uses_the_transposed_convolution_of_pytorch() -> None:
    layer = UpConv(2, 1)
    with torch.autocast("cpu", torch.bfloat16):
        assert "UpConvToImage" not in type(layer(torch.randn(1, 2, 4, 4)).grad_fn).__name__


def test_a_stack_of_layers_gives_what_the_layers_give_one_by_one() -> None:
    torch.manual_seed(0)
    layers = [
        DownConv(3, 8),
        nn.LeakyReLU(0.2),
        DownConv(8, 8),
        nn.ReLU(),
        UpConv(8, 3),
        nn.ReLU(),
        nn.Flatten(),
    ]
    x = expected = torch.randn(2, 3, 16, 16)
    for layer in layers:
        expected = layer(expected)
    assert torch.equal(ConvStack(*layers)(x), expected)
    assert layers[2](x.new_full((1, 8, 4, 4), -1.0), 0.0).equal(layers[2](x.new_zeros(1, 8, 4, 4)))


def test_weights_are_stored_with_their_channels_last_where_that_is_faster() -> None:
    def is_ordered(layer: nn.Module, device: str, *, all_layers: bool) -> bool:
        order_weights(layer, torch.device(device), all_layers=all_layers)
        weight = layer.get_parameter("weight")
        return weight.is_contiguous(memory_format=torch.channels_last) and not weight.is_contiguous()

    assert is_ordered(nn.Conv2d(3, 8, 3), "cpu", all_layers=False)
    assert is_ordered(DownConv(3, 8), "cpu", all_layers=False)
    assert not is_ordered(nn.Conv2d(3, 8, 3), "meta", all_layers=False)
    assert is_ordered(nn.Conv2d(3, 8, 3), "meta", all_layers=True)
