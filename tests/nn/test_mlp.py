"""Fully connected networks for images and rows, src/unbraid/nn/mlp.py."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from unbraid.nn import MLPDecoder, MLPEncoder


@pytest.mark.parametrize("shape", [(5,), (1, 6, 6), (3, 4, 7)])
def test_images_and_rows(shape: tuple[int, ...]) -> None:
    q = MLPEncoder(shape, 4, hidden=(8,))(torch.rand(2, *shape))
    assert q.mean.shape == q.logvar.shape == (2, 4)
    assert MLPDecoder(4, shape, hidden=(8, 8))(q.mean).shape == (2, *shape)


def test_by_default_they_are_those_of_the_beta_vae_on_dsprites() -> None:
    """Encoder 1200-1200 with ReLU, decoder 1200-1200-1200 with tanh."""
    encoder, decoder = MLPEncoder((1, 8, 8), 10), MLPDecoder(10, (1, 8, 8))
    widths = [layer.out_features for layer in encoder.trunk if isinstance(layer, nn.Linear)]
    assert widths == [1200, 1200]
    widths = [layer.out_features for layer in decoder.layers if isinstance(layer, nn.Linear)]
    assert widths == [1200, 1200, 1200, 64]
    assert sum(isinstance(layer, nn.ReLU) for layer in encoder.trunk) == 2
    assert sum(isinstance(layer, nn.Tanh) for layer in decoder.layers) == 3


def test_without_hidden_layers_they_are_linear() -> None:
    encoder, x = MLPEncoder((3,), 2, hidden=()), torch.rand(2, 3)
    assert_close(torch.cat(encoder(x), 1), x @ encoder.heads.weight.T + encoder.heads.bias)


def test_observations_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"requires observations of shape \(3,\); got \(4,\)"):
        MLPEncoder((3,), 2, hidden=())(torch.rand(2, 4))
