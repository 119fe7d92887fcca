"""Spectral normalization. Miyato et al., 2018, Spectral Normalization for Generative Adversarial Networks,
arXiv:1802.05957.

This version has no state: the paper stores a vector and updates it once per step. Here the vector is computed by 32
power iterations (five squarings of a small matrix) in every call, so that a loss depends on the weights alone. All
weights of a network are normalized together, which needs hardly more kernels than one weight.
"""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

SQUARINGS = 5
Maps = Float[Tensor, "_ _ _ _"]
Weight = Float[Tensor, "..."]  # the first axis is that of the outputs


def spectrally_normalized(weights: Sequence[Weight]) -> list[Weight]:
    """Each weight divided by its largest singular value; gradients pass through the division."""
    with torch.autocast(weights[0].device.type, enabled=False):  # low precision is too inaccurate
        matrices = [weight.flatten(1) for weight in weights]
        directions = _directions([matrix.detach() for matrix in matrices])
        return [
            weight / (direction @ matrix).norm().clamp(min=1e-12)
            for weight, matrix, direction in zip(weights, matrices, directions, strict=True)
        ]


def _directions(matrices: list[Tensor]) -> list[Float[Tensor, " o"]]:
    """The left singular vector of the largest singular value of each matrix; small matrices are zero-padded."""
    size = max(len(matrix) for matrix in matrices)
    padding = [size - len(matrix) for matrix in matrices]
    grams = torch.stack(
        [F.pad(matrix @ matrix.mT, (0, pad, 0, pad)) for matrix, pad in zip(matrices, padding, strict=True)]
    )
    for _ in range(SQUARINGS):
        grams = grams / grams.norm(dim=(1, 2), keepdim=True).clamp(min=1e-12)
        grams = grams @ grams
    # All columns of a high power are parallel to the wanted vector; the longest column is never zero, a sum may be.
    longest = grams.square().sum(1).argmax(1)
    vectors = F.normalize(grams.take_along_dim(longest[:, None, None], 2)[:, :, 0], dim=1)
    return [vector[: len(matrix)] for vector, matrix in zip(vectors, matrices, strict=True)]


class SpectralConv(nn.Conv2d):
    """Convolution of kernel 4 and stride 2 with a spectrally normalized weight."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__(before, after, 4, 2, padding=1)

    def forward(self, input: Maps, normalized: Weight | None = None) -> Maps:
        (weight,) = spectrally_normalized([self.weight]) if normalized is None else (normalized,)
        return self._conv_forward(input, weight, self.bias)


class SpectralLinear(nn.Linear):
    """Linear layer with a spectrally normalized weight."""

    def forward(self, input: Float[Tensor, "b i"], normalized: Weight | None = None) -> Float[Tensor, "b o"]:
        (weight,) = spectrally_normalized([self.weight]) if normalized is None else (normalized,)
        return F.linear(input, weight, self.bias)


def normalized_weights(network: nn.Module) -> Iterator[Weight]:
    """The normalized weights of all spectral layers of a network, in order."""
    layers = [module for module in network.modules() if isinstance(module, SpectralConv | SpectralLinear)]
    return iter(spectrally_normalized([layer.weight for layer in layers]))


def apply_layers(layers: nn.Sequential, x: Tensor, weights: Iterator[Weight]) -> Tensor:
    """The output of the layers for x; each spectral layer takes the next of the normalized weights."""
    for layer in layers:
        x = layer(x, next(weights)) if isinstance(layer, SpectralConv | SpectralLinear) else layer(x)
    return x
