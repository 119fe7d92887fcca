"""What each normalization has mean 0 and variance 1 over, src/unbraid/nn/norms.py."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from unbraid.nn.norms import NORMS, ChannelNorm2d, Normalization

OVER: dict[Normalization, tuple[int, ...]] = {
    "batch": (0, 2, 3),
    "instance": (2, 3),
    "layer": (1, 2, 3),
    "channel": (1,),
}


def maps() -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randn(4, 5, 3, 3, dtype=torch.float64) * 7 + torch.arange(5.0)[:, None, None]


@pytest.mark.parametrize("name", OVER)
def test_mean_and_variance_over_its_axes_are_0_and_1(name: Normalization) -> None:
    y = NORMS[name](5).double()(maps())
    assert_close(y.mean(OVER[name]), torch.zeros_like(y.mean(OVER[name])))
    assert_close(y.var(OVER[name], correction=0), torch.ones_like(y.mean(OVER[name])), rtol=1e-4, atol=0)


@pytest.mark.parametrize("name", OVER)
def test_only_batch_statistics_couple_the_images_of_a_batch(name: Normalization) -> None:
    norm, x = NORMS[name](5).double(), maps()
    alone = torch.cat([norm(image[None]) for image in x])
    assert torch.allclose(norm(x), alone) == (name != "batch")


@pytest.mark.parametrize("name", OVER)
def test_scale_and_shift_belong_to_the_channels(name: Normalization) -> None:
    norm, x = NORMS[name](5).double(), maps()
    plain, scale, shift = norm(x), torch.rand(5).double(), torch.rand(5).double()
    with torch.no_grad():
        norm.weight.copy_(scale)  # type: ignore[union-attr]
        norm.bias.copy_(shift)  # type: ignore[union-attr]
    assert_close(norm(x), plain * scale[:, None, None] + shift[:, None, None])
    assert sum(parameter.numel() for parameter in norm.parameters()) == 10


def test_channel_norm_is_layer_norm_over_channels_last() -> None:
    x = maps()
    expected = F.layer_norm(x.movedim(1, -1), (5,)).movedim(-1, 1)
    assert_close(ChannelNorm2d(5).double()(x), expected)
    half = ChannelNorm2d(5)(x.bfloat16())
    assert half.dtype == torch.bfloat16
    assert_close(half.double(), expected, rtol=0.02, atol=0.02)


def test_instance_norm_is_pytorchs() -> None:
    assert_close(NORMS["instance"](5).double()(maps()), nn.InstanceNorm2d(5).double()(maps()))
