"""Spectral normalisation. Miyato et al., 2018, Spectral Normalization for Generative Adversarial Networks,
arXiv:1802.05957.

Without state: the paper keeps a vector from step to step and improves it once a step. Here it is found anew by 32
power iterations, which five squarings of a small matrix do, so that a loss is a function of its weights alone. All
weights of a network are normalised together, which takes hardly more kernels than one of them.
"""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

SQUARINGS = 5
Maps = Float[Tensor, "_ _ _ _"]
Weight = Float[Tensor, "..."]  # outputs come first


def spectrally_normalised(weights: Sequence[Weight]) -> list[Weight]:
    """Each weight divided by its largest singular value, through which gradients flow."""
    with torch.autocast(weights[0].device.type, enabled=False):  # a low precision would miss the value
        matrices = [weight.flatten(1) for weight in weights]
        directions = _directions([matrix.detach() for matrix in matrices])
        return [
            weight / (direction @ matrix).norm().clamp(min=1e-12)
            for weight, matrix, direction in zip(weights, matrices, directions, strict=True)
        ]


def _directions(matrices: list[Tensor]) -> list[Float[Tensor, " o"]]:
    """The left singular vector of the largest singular value of each; zeros fill small ones up."""
    most = max(len(matrix) for matrix in matrices)
    fill = [most - len(matrix) for matrix in matrices]
    grams = torch.stack(
        [F.pad(matrix @ matrix.mT, (0, more, 0, more)) for matrix, more in zip(matrices, fill, strict=True)]
    )
    for _ in range(SQUARINGS):
        grams = grams / grams.norm(dim=(1, 2), keepdim=True).clamp(min=1e-12)
        grams = grams @ grams
    # All columns of a high power point where the largest singular value is; their sum may cancel, one cannot.
    longest = grams.square().sum(1).argmax(1)
    vectors = F.normalize(grams.take_along_dim(longest[:, None, None], 2)[:, :, 0], dim=1)
    return [vector[: len(matrix)] for vector, matrix in zip(vectors, matrices, strict=True)]


class SpectralConv(nn.Conv2d):
    """A convolution of kernel 4 and stride 2 whose weight is normalised."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__(before, after, 4, 2, padding=1)

    def forward(self, input: Maps, normalised: Weight | None = None) -> Maps:
        (weight,) = spectrally_normalised([self.weight]) if normalised is None else (normalised,)
        return self._conv_forward(input, weight, self.bias)


class SpectralLinear(nn.Linear):
    """A layer whose weight is normalised."""

    def forward(self, input: Float[Tensor, "b i"], normalised: Weight | None = None) -> Float[Tensor, "b o"]:
        (weight,) = spectrally_normalised([self.weight]) if normalised is None else (normalised,)
        return F.linear(input, weight, self.bias)


def normalised_weights(network: nn.Module) -> Iterator[Weight]:
    """Those of all layers of a network that want it, in its order."""
    layers = [module for module in network.modules() if isinstance(module, SpectralConv | SpectralLinear)]
    return iter(spectrally_normalised([layer.weight for layer in layers]))


def through(layers: nn.Sequential, x: Tensor, weights: Iterator[Weight]) -> Tensor:
    """What layers make of x, each that is normalised with the next of the weights."""
    for layer in layers:
        x = layer(x, next(weights)) if isinstance(layer, SpectralConv | SpectralLinear) else layer(x)
    return x
