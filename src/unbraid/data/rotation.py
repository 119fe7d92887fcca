"""Turning pictures in batches, on the device they lie on."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor


class Turns:
    """Square pictures turned about their middle by one of several angles, bilinearly, zero from outside.

    Where each pixel comes from depends on the angle alone, so it is worked out once: four places and their
    weights a pixel. After that nothing waits for the device.

    Args:
        angles: In degrees, counterclockwise.
        size: Side of the pictures in pixels.
    """

    def __init__(self, angles: Sequence[float], size: int) -> None:
        self.angles, self.size = tuple(angles), size
        degrees = torch.tensor(self.angles, dtype=torch.float64)[:, None, None]
        cosine, sine = degrees.deg2rad().cos().round(decimals=12), degrees.deg2rad().sin().round(decimals=12)
        steps = torch.arange(size, dtype=torch.float64) - (size - 1) / 2
        y, x = steps[:, None], steps[None, :]  # downwards and to the right
        column = cosine * x - sine * y + (size - 1) / 2  # where the pixel was before the turn
        row = sine * x + cosine * y + (size - 1) / 2
        left, top = column.floor(), row.floor()
        right, bottom = column - left, row - top  # how far beyond
        places, weights = [], []
        for down, across in ((0, 0), (0, 1), (1, 0), (1, 1)):
            i, j = top + down, left + across
            inside = (i >= 0) & (i < size) & (j >= 0) & (j < size)
            share = (bottom if down else 1 - bottom) * (right if across else 1 - right)
            places.append((i * size + j).masked_fill(~inside, 0).long().flatten(1))
            weights.append((share * inside).float().flatten(1))
        self.places: Int[Tensor, "angles 4 pixels"] = torch.stack(places, 1)
        self.weights: Float[Tensor, "angles 4 pixels"] = torch.stack(weights, 1)

    def to(self, device: torch.device | str) -> "Turns":
        """The same with its tables on a device."""
        moved = object.__new__(Turns)
        moved.angles, moved.size = self.angles, self.size
        moved.places, moved.weights = self.places.to(device), self.weights.to(device)
        return moved

    def __call__(self, images: Float[Tensor, "b h w"], turn: Int[Tensor, " b"]) -> Float[Tensor, "b h w"]:
        """Each image turned by the angle of the given number."""
        places, weights = self.places.index_select(0, turn), self.weights.index_select(0, turn)
        found = images.flatten(1).gather(1, places.flatten(1)).view_as(weights)
        return (found * weights).sum(1).view_as(images)

    def __repr__(self) -> str:
        return f"Turns({self.angles}, {self.size})"
