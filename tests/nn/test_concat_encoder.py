"""Two encoders in one, src/unbraid/nn/concat_encoder.py."""

import functools

import torch
from torch.testing import assert_close

from unbraid.nn import ConcatEncoder, ConvEncoder


def test_codes_stand_side_by_side() -> None:
    torch.manual_seed(0)
    first, second = ConvEncoder((1, 28, 28), 2, standardized=True), ConvEncoder((1, 28, 28), 3)
    x = torch.rand(4, 1, 28, 28)
    both = ConcatEncoder(first, second)
    assert both.latent_dim == 5 and both.shape == (1, 28, 28)
    assert_close(both(x).mean, torch.cat([first(x).mean, second(x).mean], 1))
    assert_close(both(x).logvar[:, 2:], second(x).logvar)
    assert_close(first(x + 0.5).mean, first(x).mean)  # the other sees that it is lighter
    assert (second(x + 0.5).mean - second(x).mean).abs().max() > 1e-4


def test_concatenated_encoders_are_listed_in_order() -> None:
    own = [ConvEncoder((1, 28, 28), codes) for codes in (1, 2, 3)]
    joined = functools.reduce(ConcatEncoder, own)
    assert isinstance(joined, ConcatEncoder) and joined.encoders == tuple(own) and joined.latent_dim == 6
