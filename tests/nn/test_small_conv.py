"""The small convolutional network, src/unbraid/nn/small_conv.py."""

import pytest
import torch

from unbraid.nn import SmallConv


@pytest.mark.parametrize("side", [28, 32, 64, 96])
def test_any_side_gives_the_last_channels(side: int) -> None:
    network = SmallConv((3, side, side), channels=(4, 8, 16))
    assert network.features == 16 and network(torch.rand(2, 3, side, side)).shape == (2, 16)


def test_weights_by_hand() -> None:
    """3·32·9, 32·64·9, 64·128·9, 128·256·9, and two for each normalized channel."""
    network = SmallConv((3, 32, 32))
    convolutions = 9 * (3 * 32 + 32 * 64 + 64 * 128 + 128 * 256)
    assert sum(parameter.numel() for parameter in network.parameters()) == convolutions + 2 * 480


def test_bad_shapes() -> None:
    with pytest.raises(ValueError, match="at least 16 pixels per side; got"):
        SmallConv((3, 8, 8))
    with pytest.raises(ValueError, match=r"requires observations of shape \(3, 32, 32\)"):
        SmallConv((3, 32, 32))(torch.rand(1, 3, 28, 28))
