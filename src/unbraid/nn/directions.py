"""A linear code in closed form: what is left of an observation along some directions."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.nn.base import Network
from unbraid.types import Codes, Observations


class Directions(Network):
    """Observations to their coordinates along fixed directions; directions and centre are buffers, found by `fit`
    of the method that owns them.

    Args:
        shape: The shape of one observation.
        codes: The number of directions.
    """

    centre: Tensor
    directions: Tensor

    def __init__(self, shape: tuple[int, ...], codes: int) -> None:
        super().__init__()
        size = math.prod(shape)
        if not 1 <= codes <= size:
            raise ValueError(f"Observations of {size} numbers have 1 to {size} directions; got {codes}.")
        self.shape, self.codes = shape, codes
        self.register_buffer("centre", torch.zeros(size))
        self.register_buffer("directions", torch.eye(size)[:, :codes].contiguous())

    def forward(self, x: Observations) -> Codes:
        if x.shape[1:] != self.shape:
            raise ValueError(f"The projection is of observations {self.shape}; got {tuple(x.shape[1:])}.")
        return self._multiply(x.flatten(1) - self.centre, self.directions)

    def back(self, codes: Codes) -> Observations:
        """The observations with the given coordinates, and nothing in any other direction."""
        return (self._multiply(codes, self.directions.T) + self.centre).unflatten(1, self.shape)

    def _multiply(self, a: Float[Tensor, "b i"], b: Float[Tensor, "i j"]) -> Float[Tensor, "b j"]:
        with torch.autocast(a.device.type, enabled=False):  # which would round the coordinates
            return a @ b
