"""The networks for colored digits, src/unbraid/nn/digits.py."""

import pytest
import torch

from unbraid.nn import DigitDecoder, DigitEncoder


def parameters(network: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def test_layers_are_those_of_tables_6_and_7() -> None:
    """Convolutions 3·16·64 + 64, 64·16·128 + 128 and 128·9·128 + 128, then 128·7·7 to the heads."""
    trunk = (3 * 16 * 64 + 64) + (64 * 16 * 128 + 128) + (128 * 9 * 128 + 128)
    assert parameters(DigitEncoder((3, 28, 28), 32)) == trunk + (128 * 49 + 1) * 64
    discriminator = DigitEncoder((3, 28, 28), 1, hidden=(128,))
    assert parameters(discriminator) == trunk + (128 * 49 + 1) * 128 + 129 * 2
    decoder = (32 + 1) * 64 * 49 + (64 * 16 * 64 + 64) + (64 * 16 * 3 + 3)
    assert parameters(DigitDecoder(32, (3, 28, 28))) == decoder


def test_they_fit_together() -> None:
    encoder, decoder = DigitEncoder((3, 28, 28), 4), DigitDecoder(4, (3, 28, 28))
    assert decoder(encoder(torch.rand(2, 3, 28, 28)).mean).shape == (2, 3, 28, 28)


def test_sides_that_do_not_halve_twice_are_refused() -> None:
    with pytest.raises(ValueError, match=r"multiple of 4, at least 8; got \(3, 30, 30\)"):
        DigitEncoder((3, 30, 30), 4)
    with pytest.raises(ValueError, match=r"requires observations of shape \(3, 28, 28\); got \(3, 32, 32\)"):
        DigitEncoder((3, 28, 28), 4)(torch.rand(2, 3, 32, 32))
