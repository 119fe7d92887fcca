"""The networks of InfoGAN-CR, src/unbraid/nn/gan.py."""

import json

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from unbraid.nn import Discriminator, Generator, PairCritic
from unbraid.nn.spectral import SpectralConv, SpectralLinear
from unbraid.settings import from_json, to_json


def test_layers_are_the_authors() -> None:
    generator = Generator(10, (1, 64, 64))
    widths = [module.out_features for module in generator.modules() if isinstance(module, nn.Linear)]
    assert widths == [128, 1024]
    maps = [module.out_channels for module in generator.modules() if isinstance(module, nn.ConvTranspose2d)]
    assert maps == [64, 32, 32, 1]
    discriminator = Discriminator((1, 64, 64), 5)
    assert all(
        isinstance(module, SpectralConv | SpectralLinear)
        for module in discriminator.modules()
        if isinstance(module, nn.Conv2d | nn.Linear)
    )
    critic = PairCritic((1, 64, 64), 5)
    assert type(critic.logits) is nn.Linear and critic.trunk[0].in_channels == 2  # type: ignore[union-attr]


@pytest.mark.parametrize("shape", [(1, 64, 64), (6,)])
def test_they_start_as_the_authors_do(shape: tuple[int, ...]) -> None:
    """From weights of a small spread, normalized after what is not linear."""
    torch.manual_seed(0)
    for network in (Generator(10, shape), Discriminator(shape, 5), PairCritic(shape, 5)):
        for module in network.modules():
            if isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
                assert 0.017 < float(module.weight.detach().std()) < 0.023 and not module.bias.any()
    layers = [type(layer).__name__ for layer in Generator(10, shape).layers]
    assert all("ReLU" in layers[index - 1] for index, name in enumerate(layers) if "BatchNorm" in name)


@pytest.mark.parametrize("shape", [(1, 32, 32), (3, 3, 3), (6,)])
def test_they_fit_together(shape: tuple[int, ...]) -> None:
    x = Generator(4, shape)(torch.randn(5, 4))
    assert x.shape == (5, *shape)
    logits, guess = Discriminator(shape, 3)(x)
    assert logits.shape == (5,) and guess.shape == (5, 3)
    assert PairCritic(shape, 3)(x, x).shape == (5, 3)


def test_they_are_rebuilt_from_their_description() -> None:
    generator = Generator(4, (6,), hidden=8).eval()
    again = from_json(json.loads(json.dumps(to_json(generator)))).eval()
    again.load_state_dict(generator.state_dict())
    z = torch.randn(3, 4)
    assert_close(again(z), generator(z))
