"""Fully connected encoder and decoder, for rows and for images laid out flat.

Higgins et al., 2017, used them on dSprites. All weights start as PyTorch's defaults.
"""

from itertools import pairwise
from math import prod
from typing import Literal

from torch import nn

from unbraid.nn.base import Decoder, Encoder
from unbraid.types import Codes, Gaussian, Observations

Activation = Literal["relu", "tanh", "leaky-relu"]
ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "leaky-relu": nn.LeakyReLU}


def layers(sizes: tuple[int, ...], activation: Activation) -> list[nn.Module]:
    """Linear layers between the sizes, each with its activation."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"There is no activation {activation!r}; allowed are {', '.join(ACTIVATIONS)}.")
    return [module for a, b in pairwise(sizes) for module in (nn.Linear(a, b), ACTIVATIONS[activation]())]


class MLPEncoder(Encoder):
    """Images or rows to posteriors.

    Args:
        shape: The shape of one observation: (channels, height, width) or (columns,).
        codes: The number of dimensions of the code.
        hidden: The widths of the hidden layers.
        activation: What follows each of them: relu, tanh or leaky-relu.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        codes: int,
        *,
        hidden: tuple[int, ...] = (1200, 1200),
        activation: Activation = "relu",
    ) -> None:
        super().__init__()
        self.shape, self.codes = shape, codes
        self.trunk = nn.Sequential(nn.Flatten(), *layers((prod(shape), *hidden), activation))
        self.heads = nn.Linear((prod(shape), *hidden)[-1], 2 * codes)  # mean and log-variance

    def forward(self, x: Observations) -> Gaussian:
        if x.shape[1:] != self.shape:
            raise ValueError(f"The encoder was made for observations {self.shape}; got {tuple(x.shape[1:])}.")
        return Gaussian(*self.heads(self.trunk(x)).chunk(2, 1))


class MLPDecoder(Decoder):
    """Codes to images or rows.

    Args:
        codes: The number of dimensions of the code.
        shape: The shape of one observation: (channels, height, width) or (columns,).
        hidden: The widths of the hidden layers.
        activation: What follows each of them: relu, tanh or leaky-relu.
    """

    def __init__(
        self,
        codes: int,
        shape: tuple[int, ...],
        *,
        hidden: tuple[int, ...] = (1200, 1200, 1200),
        activation: Activation = "tanh",
    ) -> None:
        super().__init__()
        self.shape, self.codes = shape, codes
        self.layers = nn.Sequential(
            *layers((codes, *hidden), activation),
            nn.Linear((codes, *hidden)[-1], prod(shape)),
            nn.Unflatten(1, shape),
        )

    def forward(self, z: Codes) -> Observations:
        return self.layers(z)
