"""Spectral normalization, src/unbraid/nn/spectral.py."""

import torch
from torch.testing import assert_close

from unbraid.nn.spectral import SpectralConv, SpectralLinear, spectrally_normalized


def test_the_largest_singular_value_becomes_one() -> None:
    """Of each of several weights, whatever their sizes."""
    torch.manual_seed(0)
    shapes = ((5, 3), (3, 7), (8, 4, 4, 4), (1, 6))
    for normalized in spectrally_normalized([torch.randn(shape, dtype=torch.float64) for shape in shapes]):
        largest = torch.linalg.matrix_norm(normalized.flatten(1), 2)
        assert_close(largest, torch.ones((), dtype=torch.float64), rtol=5e-3, atol=0)


def test_a_diagonal_by_hand() -> None:
    weight = torch.diag(torch.tensor([3.0, -6.0, 1.0]))
    assert_close(spectrally_normalized([weight])[0], torch.diag(torch.tensor([0.5, -1.0, 1 / 6])))


def test_the_gradient_is_that_of_the_quotient() -> None:
    torch.manual_seed(0)
    weight = torch.diag(torch.tensor([4.0, 1.0], dtype=torch.float64)).requires_grad_()
    assert torch.autograd.gradcheck(lambda one: spectrally_normalized([one])[0], (weight,))


def test_layers_ignore_the_scale_of_their_weights() -> None:
    torch.manual_seed(0)
    for layer, x in (
        (SpectralLinear(4, 3), torch.randn(2, 4)),
        (SpectralConv(2, 3), torch.randn(2, 2, 8, 8)),
    ):
        before = layer(x)
        with torch.no_grad():
            layer.weight.mul_(7)
        assert_close(layer(x), before)
        assert before.shape == ((2, 3) if x.ndim == 2 else (2, 3, 4, 4))
