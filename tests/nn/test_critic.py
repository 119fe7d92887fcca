"""The critic's layers, src/unbraid/nn/critic.py."""

import torch
from torch import nn
from torch.testing import assert_close

from unbraid.nn import Critic


def test_six_layers_of_1000_and_two_logits() -> None:
    critic = Critic(10)
    linear = [layer for layer in critic.layers if isinstance(layer, nn.Linear)]
    assert [layer.out_features for layer in linear] == [1000] * 6 + [2]
    slopes = [layer.negative_slope for layer in critic.layers if isinstance(layer, nn.LeakyReLU)]
    assert slopes == [0.2] * 6
    assert critic(torch.randn(3, 10)).shape == (3, 2)


def test_other_sizes() -> None:
    critic = Critic(2, width=4, layers=1)
    assert sum(parameter.numel() for parameter in critic.parameters()) == 2 * 4 + 4 + 4 * 2 + 2


def test_without_layers_it_is_linear() -> None:
    critic = Critic(5, layers=0)
    a, b = torch.randn(2, 3, 5)
    assert_close(critic(a + b) + critic(torch.zeros(3, 5)), critic(a) + critic(b))
