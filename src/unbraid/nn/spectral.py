"""Spectral normalisation. Miyato et al., 2018, Spectral Normalization for Generative Adversarial Networks,
arXiv:1802.05957.

Without state: the paper keeps a vector from step to step and improves it once a step. Here it is found anew by 32
power iterations, which five squarings of a small matrix do, so that a loss is a function of its weights alone.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

SQUARINGS = 5
Maps = Float[Tensor, "_ _ _ _"]
Weight = Float[Tensor, "..."]  # outputs come first


def spectrally_normalised(weight: Weight) -> Weight:
    """The weight divided by its largest singular value, through which gradients flow."""
    with torch.autocast(weight.device.type, enabled=False):  # a low precision would miss the value
        matrix = weight.flatten(1)
        direction = _direction(matrix.detach())
        return weight / (direction @ matrix).norm().clamp(min=1e-12)


def _direction(matrix: Float[Tensor, "o i"]) -> Float[Tensor, " o"]:
    """The left singular vector of the largest singular value."""
    gram = matrix @ matrix.mT
    for _ in range(SQUARINGS):
        gram = gram / gram.norm().clamp(min=1e-12)
        gram = gram @ gram
    # All columns of a high power point where the largest singular value is; their sum may cancel, one cannot.
    longest = gram.index_select(1, gram.square().sum(0).argmax().view(1))
    return F.normalize(longest[:, 0], dim=0)


class SpectralConv(nn.Conv2d):
    """A convolution of kernel 4 and stride 2 whose weight is normalised."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__(before, after, 4, 2, padding=1)

    def forward(self, input: Maps) -> Maps:
        return self._conv_forward(input, spectrally_normalised(self.weight), self.bias)


class SpectralLinear(nn.Linear):
    """A layer whose weight is normalised."""

    def forward(self, input: Float[Tensor, "b i"]) -> Float[Tensor, "b o"]:
        return F.linear(input, spectrally_normalised(self.weight), self.bias)
