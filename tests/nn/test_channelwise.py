"""One set of layers for every channel, src/unbraid/nn/channelwise.py."""

import torch
from torch import nn
from torch.testing import assert_close

from unbraid.nn import ConvEncoder
from unbraid.nn.channelwise import Channelwise


def test_the_largest_of_each_feature_over_the_channels() -> None:
    """The features of a channel are its sum and the negative of it."""
    layers = nn.Sequential(nn.Flatten(), nn.Linear(4, 2, bias=False))
    layers[1].weight.data = torch.tensor([[1.0] * 4, [-1.0] * 4])
    x = torch.tensor([1.0, 3.0, -2.0])[None, :, None, None].expand(1, 3, 2, 2)
    assert_close(Channelwise(layers)(x), torch.tensor([[12.0, 8.0]]))


def test_the_order_and_the_level_of_channels_make_no_difference() -> None:
    torch.manual_seed(0)
    encoder = ConvEncoder((3, 28, 28), 4, standardized=True, channelwise=True)
    x = torch.rand(2, 3, 28, 28)
    assert_close(encoder(x[:, [2, 0, 1]] + 0.3).mean, encoder(x).mean)
    assert_close(encoder(x[1:]).mean, encoder(x).mean[1:])
    other = x.clone()
    other[:, 0] = x[:, 1]
    assert (encoder(other).mean - encoder(x).mean).abs().max() > 1e-4
