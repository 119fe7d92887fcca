"""Projection of observations onto fixed directions."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.nn.base import Network
from unbraid.settings import require_shape
from unbraid.types import Codes, Observations


class LinearProjection(Network):
    """Network from observations to their coordinates along fixed directions; `fit` of the method computes the buffers
    `directions` and `center`.

    Args:
        shape: Shape of one observation.
        latent_dim: Number of directions.
    """

    center: Tensor
    directions: Tensor

    def __init__(self, shape: tuple[int, ...], latent_dim: int) -> None:
        super().__init__()
        size = math.prod(shape)
        if not 1 <= latent_dim <= size:
            raise ValueError(
                f"The number of directions must be from 1 to {size}, the size of an observation; got {latent_dim}."
            )
        self.shape, self.latent_dim = shape, latent_dim
        self.register_buffer("center", torch.zeros(size))
        self.register_buffer("directions", torch.eye(size)[:, :latent_dim].contiguous())

    def forward(self, x: Observations) -> Codes:
        require_shape(self, x)
        return self._multiply(x.flatten(1) - self.center, self.directions)

    def inverse(self, codes: Codes) -> Observations:
        """The observations with the given coordinates; all other directions are at the center."""
        return (self._multiply(codes, self.directions.T) + self.center).unflatten(1, self.shape)

    def _multiply(self, a: Float[Tensor, "b i"], b: Float[Tensor, "i j"]) -> Float[Tensor, "b j"]:
        with torch.autocast(a.device.type, enabled=False):  # which would round the coordinates
            return a @ b
