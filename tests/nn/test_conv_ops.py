"""The convolutions as operators, src/unbraid/nn/conv_ops.py: on a GPU, or in Triton's interpreter."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional as F
from torch.testing import assert_close

from tests.triton_device import DEVICE, INTERPRETED, require_kernels

require_kernels()

from unbraid.nn import conv_launch, conv_ops  # noqa: E402
from unbraid.nn.architectures import build_networks  # noqa: E402
from unbraid.nn.conv import LAYERS  # noqa: E402
from unbraid.nn.strided_conv import DownConv, UpConv  # noqa: E402

# Products of float32 are rounded to TF32 on a GPU, and exact in the interpreter.
TOLERANCE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4} if INTERPRETED else {"rtol": 0.01, "atol": 0.05}
ARCHITECTURES = (
    "conv",
    "conv-disentanglement-lib",
    "conv-contrast",
    "conv-contrast-faces",
    "conv-digits",
    "conv-flowers",
)


@pytest.fixture(autouse=True)
def enabled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conv_ops, "enabled", True)


def channels_of_networks() -> list[tuple[int, int, int]]:
    """Coarse channels, fine channels and kernel of every layer of stride 2 of the networks, at images of 1 and 3."""
    pairs = set()
    for name in ARCHITECTURES:
        for image in (1, 3):
            networks = build_networks(name, (image, 32, 32), 4)
            layers = [
                layer
                for network in networks
                for layer in network.modules()
                if isinstance(layer, DownConv | UpConv)
            ]
            pairs |= {(*layer.weight.shape[:2], layer.weight.shape[-1]) for layer in layers}
    assert len(pairs) > 10 and len(LAYERS) >= 5
    return sorted(pairs)


def convolution(x: Tensor, weight: Tensor, bias: Tensor, slope: float, *, transposed: bool) -> Tensor:
    """PyTorch's convolution of each model, of the activation of x."""
    function = F.conv_transpose2d if transposed else F.conv2d
    maps = torch.where(x > 0, x, slope * x).permute(0, 1, 4, 2, 3)
    padding = (weight.shape[-1] - 2) // 2
    models = [function(m, w, b, 2, padding) for m, w, b in zip(maps, weight, bias, strict=True)]
    return torch.stack(models).permute(0, 1, 3, 4, 2)


def inputs(
    coarse: int, fine: int, kernel: int, *, transposed: bool, models: int = 2, side: int = 2
) -> list[Tensor]:
    x = (
        torch.randn(models, 1, side, side, coarse)
        if transposed
        else torch.randn(models, 1, 2 * side, 2 * side, fine)
    )
    weight = torch.randn(models, coarse, fine, kernel, kernel) / 10
    return [x, weight, torch.randn(models, fine if transposed else coarse)]


def on_device(tensors: list[Tensor]) -> list[Tensor]:
    return [tensor.to(DEVICE).requires_grad_() for tensor in tensors]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("channels", channels_of_networks())
def test_layers_of_all_networks_and_their_gradients(channels: tuple[int, int, int], transposed: bool) -> None:
    given = inputs(*channels, transposed=transposed, models=1, side=2 if max(channels) < 128 else 1)
    ours, exact = on_device(given), [tensor.double().requires_grad_() for tensor in given]
    operator = conv_ops.up if transposed else conv_ops.down
    output, expected = operator(*ours, None, 0.0, 1.0), convolution(*exact, 0.0, transposed=transposed)
    assert_close(output.double().cpu(), expected, **TOLERANCE)
    gradient = torch.randn_like(expected)
    assert_close(
        [g.double().cpu() for g in torch.autograd.grad(output, ours, gradient.float().to(DEVICE))],
        list(torch.autograd.grad(expected, exact, gradient)),
        **TOLERANCE,
    )


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("channels", "slope"), [((16, 16, 4), 0.2), ((32, 1, 4), 0.0), ((16, 32, 2), 1.0)])
def test_gradients_of_gradients(channels: tuple[int, int, int], slope: float, transposed: bool) -> None:
    given = inputs(*channels, transposed=transposed)
    ours, exact = on_device(given), [tensor.double().requires_grad_() for tensor in given]
    operator = conv_ops.up if transposed else conv_ops.down
    gradient = torch.randn_like(convolution(*exact, slope, transposed=transposed))
    directions = [torch.randn_like(tensor) for tensor in given]

    def second(output: Tensor, tensors: list[Tensor]) -> list[Tensor]:
        """Gradients of squares of the first gradients in random directions, that of the bias included."""
        first = torch.autograd.grad(output, tensors, gradient.to(output), create_graph=True)
        total = sum((g * d.to(g)).sum().square() for g, d in zip(first, directions, strict=True))
        assert isinstance(total, Tensor)
        return [g.double().cpu() for g in torch.autograd.grad(total, tensors[:2])]

    assert_close(
        second(operator(*ours, None, slope, 1.0), ours),
        second(convolution(*exact, slope, transposed=transposed), exact),
        **(TOLERANCE | {"atol": 1e-3 if INTERPRETED else 1.0}),
    )


def test_networks_give_the_same_codes_images_and_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    networks = [network.to(DEVICE) for network in build_networks("conv-disentanglement-lib", (1, 28, 28), 4)]
    x = torch.rand(1, 1, 28, 28, device=DEVICE)

    def compute() -> list[Tensor]:
        output = networks[1](networks[0](x).mean)
        parameters = [p for network in networks for p in network.parameters()]
        return [output, *torch.autograd.grad(output.square().sum(), parameters)]

    ours = compute()
    monkeypatch.setattr(conv_ops, "enabled", False)
    assert_close(ours, compute(), **TOLERANCE)


@pytest.mark.parametrize("shared", [False, True])
def test_a_stack_of_models_is_one_launch_with_the_result_of_each(
    shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = [DownConv(16, 16).to(DEVICE) for _ in range(3)]
    state, _ = stack_module_state(layers)  # type: ignore[arg-type]
    x = torch.randn(*(() if shared else (3,)), 2, 16, 4, 4, device=DEVICE)
    launches: list[int] = []
    original = conv_launch.down

    def recorded(fine: Tensor, *rest: Any) -> Tensor:
        launches.append(len(fine))
        return original(fine, *rest)

    monkeypatch.setattr(conv_launch, "down", recorded)

    def forward(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        return functional_call(layers[0], parameters, (x, 0.2))

    stacked = vmap(forward, in_dims=(0, None if shared else 0))(state, x)
    assert launches == [3]
    alone = torch.stack([layer(x if shared else x[m], 0.2) for m, layer in enumerate(layers)])
    assert_close(stacked, alone)
    directions = torch.randn_like(stacked)
    parameters = [parameter for layer in layers for parameter in layer.parameters()]
    of_stack = torch.autograd.grad(stacked, list(state.values()), directions)
    of_each = torch.autograd.grad(alone, parameters, directions)
    for index, gradient in enumerate(of_stack):
        assert_close(gradient, torch.stack(of_each[index::2]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("operator", ["down", "up", "weight_gradient"])
def test_shapes_without_computation_are_those_of_the_results(operator: str) -> None:
    fine, coarse = torch.randn(2, 1, 8, 8, 16, device=DEVICE), torch.randn(2, 1, 4, 4, 32, device=DEVICE)
    weight = torch.randn(2, 32, 16, 4, 4, device=DEVICE)
    arguments: dict[str, tuple[Any, ...]] = {
        "down": (fine, weight, None, coarse, 0.0, 0.2),
        "up": (coarse, weight, None, fine, 0.0, 0.2),
        "weight_gradient": (coarse, fine, 4, 1.0, 0.0, 3),
    }
    function = getattr(conv_ops, operator)
    torch.library.opcheck(function, arguments[operator], test_utils=("test_schema", "test_faketensor"))


def test_layers_that_no_kernel_takes_are_pytorchs() -> None:
    assert conv_ops.supports(torch.float32, torch.empty(32, 3, 4, 4))
    assert not conv_ops.supports(torch.float64, torch.empty(32, 3, 4, 4))
    assert not conv_ops.supports(torch.float32, torch.empty(20, 16, 4, 4))  # 20 output channels
    assert not conv_ops.supports(torch.float32, torch.empty(32, 10, 4, 4))  # 10 input channels
    x = torch.rand(2, 10, 8, 8)
    layer = DownConv(10, 32)
    assert_close(layer(x), nn.Conv2d.forward(layer, x))


def test_kernels_that_cannot_be_built_are_one_line_and_pytorchs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(device: torch.device) -> None:
        raise RuntimeError("no such instruction\nand a long trace")

    monkeypatch.setattr(conv_ops, "enabled", False)
    monkeypatch.setattr(conv_ops, "_try_kernels", fail)
    assert not conv_ops.use_kernels(torch.device("cuda"))
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "no such instruction" in said and "trace" not in said
    assert not conv_ops.use_kernels(torch.device("cpu"))
    assert capsys.readouterr().err == ""
