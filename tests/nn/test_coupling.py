"""Coupling layers against hand-derived numbers, src/unbraid/nn/coupling.py."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from unbraid.nn.coupling import ChannelsFirstLinear, Coupling, conv_subnet, full_subnet, random_rotation


class Fixed(nn.Module):
    """Puts out the same numbers whatever comes in."""

    def __init__(self, numbers: list[float]) -> None:
        super().__init__()
        self.numbers = torch.tensor(numbers, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        return self.numbers[:, None].expand(-1, x.shape[1])


def coupling(*, volume_preserving: bool) -> Coupling:
    """Four upright channels; the first half gets scales from r = (1, 3) and shifts (10, 20), the second nothing."""
    networks = iter([Fixed([1.0, 3.0, 10.0, 20.0]), Fixed([0.0, 0.0, 0.0, 0.0])])
    layer = Coupling(4, lambda before, after: next(networks), axis=0, volume_preserving=volume_preserving)
    layer.order.copy_(torch.tensor([3, 2, 1, 0]))
    return layer


def test_scale_and_shift_by_hand() -> None:
    """With c = 2: s = 2·(2/π)·atan(r/2), then y = e^s x + t, in the given order."""
    x = torch.tensor([[1.0], [2.0], [3.0], [4.0]], dtype=torch.float64)
    s1, s2 = (4 / math.pi * math.atan(r / 2) for r in (1.0, 3.0))
    y = coupling(volume_preserving=False)(x).flatten().tolist()
    assert_close(y, [4.0, 3.0, 2 * math.exp(s2) + 20, math.exp(s1) + 10])
    half = (s1 - s2) / 2
    y = coupling(volume_preserving=True)(x).flatten().tolist()
    assert_close(y, [4.0, 3.0, 2 * math.exp(-half) + 20, math.exp(half) + 10])


def test_a_scale_never_leaves_its_clamp() -> None:
    layer = Coupling(2, full_subnet(3, identity=False), axis=0, volume_preserving=False, clamp=0.5)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(1e4)
        s, _ = layer._scale_and_shift(layer.to_first, torch.randn(1, 100))
    assert s.abs().max() <= 0.5 and s.abs().max() > 0.49


def test_a_layer_starts_as_a_permutation() -> None:
    torch.manual_seed(0)
    for layer, x in (
        (Coupling(5, full_subnet(4), axis=0), torch.randn(5, 3)),
        (Coupling(4, conv_subnet(4), axis=1), torch.randn(2, 4, 6, 6)),
    ):
        assert_close(layer(x), x.index_select(layer.axis, layer.order), rtol=0, atol=0)


def test_a_layer_with_rotation_starts_as_a_rotation_along_its_axis() -> None:
    torch.manual_seed(0)
    for layer, x in (
        (Coupling(5, full_subnet(4), axis=0, mixing="rotation"), torch.randn(5, 3)),
        (Coupling(4, conv_subnet(4), axis=1, mixing="rotation"), torch.randn(2, 4, 6, 6)),
    ):
        expected = (layer.rotation @ x.movedim(layer.axis, 0).flatten(1)).unflatten(
            1, x.movedim(layer.axis, 0).shape[1:]
        )
        assert_close(layer(x).movedim(layer.axis, 0), expected)
        assert_close(layer.inverse(layer(x)), x)


def test_rotations_are_rotations_and_differ() -> None:
    torch.manual_seed(0)
    first, second = random_rotation(6), random_rotation(6)
    assert_close(first @ first.t(), torch.eye(6), rtol=0, atol=1e-6)
    assert_close(torch.linalg.det(first), torch.tensor(1.0))
    assert (first - second).abs().max() > 0.1


def test_another_mixing_is_refused() -> None:
    with pytest.raises(ValueError, match="mixing must be permutation or rotation; got 'shuffle'"):
        Coupling(4, full_subnet(4), axis=0, mixing="shuffle")


def test_upright_rows_are_those_of_a_linear_layer() -> None:
    torch.manual_seed(0)
    upright, x = ChannelsFirstLinear(4, 3).double(), torch.randn(7, 4, dtype=torch.float64)
    assert_close(upright(x.t()).t(), nn.functional.linear(x, upright.weight, upright.bias))
