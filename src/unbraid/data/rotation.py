"""Rotation of images in batches, on the device of the images."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor


class FixedRotations:
    """Rotates square images about their center by one of several angles, bilinearly, with zeros outside.

    The source of each pixel depends only on the angle, so it is computed once: four source pixels and their weights
    per pixel. After that nothing waits for the device.

    Args:
        angles: Angles in degrees, counterclockwise.
        size: Side of the images in pixels.
    """

    def __init__(self, angles: Sequence[float], size: int) -> None:
        self.angles, self.size = tuple(angles), size
        degrees = torch.tensor(self.angles, dtype=torch.float64)[:, None, None]
        cosine, sine = degrees.deg2rad().cos().round(decimals=12), degrees.deg2rad().sin().round(decimals=12)
        steps = torch.arange(size, dtype=torch.float64) - (size - 1) / 2
        y, x = steps[:, None], steps[None, :]  # downwards and to the right
        column = cosine * x - sine * y + (size - 1) / 2  # where the pixel was before the rotation
        row = sine * x + cosine * y + (size - 1) / 2
        left, top = column.floor(), row.floor()
        right, bottom = column - left, row - top  # fractional parts
        sources, weights = [], []
        for down, across in ((0, 0), (0, 1), (1, 0), (1, 1)):
            i, j = top + down, left + across
            inside = (i >= 0) & (i < size) & (j >= 0) & (j < size)
            share = (bottom if down else 1 - bottom) * (right if across else 1 - right)
            sources.append((i * size + j).masked_fill(~inside, 0).long().flatten(1))
            weights.append((share * inside).float().flatten(1))
        self.sources: Int[Tensor, "angles 4 pixels"] = torch.stack(sources, 1)
        self.weights: Float[Tensor, "angles 4 pixels"] = torch.stack(weights, 1)

    def to(self, device: torch.device | str) -> "FixedRotations":
        """The rotations with their tables on a device."""
        moved = object.__new__(FixedRotations)
        moved.angles, moved.size = self.angles, self.size
        moved.sources, moved.weights = self.sources.to(device), self.weights.to(device)
        return moved

    def __call__(self, images: Float[Tensor, "b h w"], angle: Int[Tensor, " b"]) -> Float[Tensor, "b h w"]:
        """Each image rotated by the angle with the given index."""
        sources, weights = self.sources.index_select(0, angle), self.weights.index_select(0, angle)
        pixels = images.flatten(1).gather(1, sources.flatten(1)).view_as(weights)
        return (pixels * weights).sum(1).view_as(images)

    def __repr__(self) -> str:  # fingerprints hash this text
        return f"FixedRotations({self.angles}, {self.size})"
