"""Fully connected encoder and decoder, for rows and for flattened images.

Higgins et al., 2017, used them on dSprites. All weights have PyTorch's default initialization.
"""

from itertools import pairwise
from math import prod
from typing import Literal

from torch import nn

from unbraid.nn.base import Decoder, Encoder
from unbraid.settings import require_shape
from unbraid.types import Codes, Gaussian, Observations

Activation = Literal["relu", "tanh", "leaky-relu"]
ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "leaky-relu": nn.LeakyReLU}


def layers(sizes: tuple[int, ...], activation: Activation) -> list[nn.Module]:
    """Linear layers between the sizes, each followed by the activation."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}; got {activation!r}.")
    return [module for a, b in pairwise(sizes) for module in (nn.Linear(a, b), ACTIVATIONS[activation]())]


class MLPEncoder(Encoder):
    """Fully connected encoder of images or rows.

    Args:
        shape: Shape of one observation: (channels, height, width) or (columns,).
        latent_dim: Number of dimensions of the code.
        hidden: Widths of the hidden layers.
        activation: Activation after each hidden layer: relu, tanh or leaky-relu.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        latent_dim: int,
        *,
        hidden: tuple[int, ...] = (1200, 1200),
        activation: Activation = "relu",
    ) -> None:
        super().__init__()
        self.shape, self.latent_dim = shape, latent_dim
        self.trunk = nn.Sequential(nn.Flatten(), *layers((prod(shape), *hidden), activation))
        self.heads = nn.Linear((prod(shape), *hidden)[-1], 2 * latent_dim)  # mean and log-variance

    def forward(self, x: Observations) -> Gaussian:
        require_shape(self, x)
        return Gaussian(*self.heads(self.trunk(x)).chunk(2, 1))


class MLPDecoder(Decoder):
    """Fully connected decoder of images or rows.

    Args:
        latent_dim: Number of dimensions of the code.
        shape: Shape of one observation: (channels, height, width) or (columns,).
        hidden: Widths of the hidden layers.
        activation: Activation after each hidden layer: relu, tanh or leaky-relu.
    """

    def __init__(
        self,
        latent_dim: int,
        shape: tuple[int, ...],
        *,
        hidden: tuple[int, ...] = (1200, 1200, 1200),
        activation: Activation = "tanh",
    ) -> None:
        super().__init__()
        self.shape, self.latent_dim = shape, latent_dim
        self.layers = nn.Sequential(
            *layers((latent_dim, *hidden), activation),
            nn.Linear((latent_dim, *hidden)[-1], prod(shape)),
            nn.Unflatten(1, shape),
        )

    def forward(self, z: Codes) -> Observations:
        return self.layers(z)
