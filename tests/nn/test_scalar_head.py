"""Networks from an image to one number, src/unbraid/nn/scalar_head.py."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from unbraid.nn import build_networks, scalar_head


def parameters(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def conv(*sizes: int) -> int:
    """Of convolutions of 4 between channels, with biases."""
    return sum(a * b * 16 + b for a, b in pairwise(sizes))


def test_layers_are_those_of_table_5() -> None:
    network = scalar_head(build_networks("conv-factor-vae", (1, 64, 64), 10)[0])
    assert parameters(network) == conv(1, 32, 32, 64, 64) + (1024 + 1) * 128 + 129
    assert not any(isinstance(module, nn.ReLU) for module in list(network.trunk)[8:])


def test_layers_are_those_of_table_9() -> None:
    encoder, decoder = build_networks("conv-flowers", (3, 64, 64), 48)
    network = scalar_head(encoder)
    assert parameters(network) == conv(3, 64, 64, 128, 128) + (2048 + 1) * 256 + 257 * 256 + 257
    assert sum(isinstance(module, nn.LeakyReLU) for module in network.modules()) == 4
    # Table 8: as many layers with more channels.
    assert parameters(encoder) == conv(3, 128, 128, 256, 256) + (4096 + 1) * 512 + 513 * 96
    assert parameters(decoder) == 49 * 512 + 513 * 4096 + conv(256, 256, 128, 128, 3)


@pytest.mark.parametrize("name", ["conv-digits", "mlp", "conv", "conv-channelwise-polar"])
def test_one_number_comes_out(name: str) -> None:
    network = scalar_head(build_networks(name, (3, 28, 28), 4)[0])
    assert network(torch.rand(5, 3, 28, 28)).shape == (5, 1)


def test_custom_encoders_need_an_explicit_discriminator() -> None:
    with pytest.raises(ValueError, match=r"No discriminator is defined for Identity\. Pass one explicitly"):
        scalar_head(nn.Identity())  # type: ignore[arg-type]
