"""Rendered sprites: the five factors of dSprites without a download.

The factors, their sizes and the geometry are those of dSprites (Matthey et al., 2017), except that the forty
orientations stop short of the full turn, so that no two of them are the same.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.renderer import GENERATED

SPACE = FactorSpace({"shape": 3, "scale": 6, "orientation": 40, "pos_x": 32, "pos_y": 32})

# Lengths as fractions of the image's side, at full scale.
HALF_SIDE = 9.75 / 64  # of the square, and half the width of the heart
AXES = (12.5 / 64, 7.5 / 64)  # semi-axes of the ellipse
REACH = HALF_SIDE * math.sqrt(2)  # largest distance of a sprite's points from its center


def sprites(*, image_size: int = 64, antialias: bool = True) -> Dataset:
    """White squares, ellipses and hearts on black, rendered on demand.

    Args:
        image_size: Side of the images in pixels, at least 16.
        antialias: Soft edges. Without them, pixels are 0 or 1 as in dSprites, and below 64 pixels some neighboring
            positions give equal images.
    """
    if image_size < 16:
        raise ValueError(
            f"Sprites need images with a side of at least 16 pixels; got image_size={image_size}."
        )
    return Dataset(
        SpriteRenderer(image_size, antialias),
        name="sprites",
        factor_space=SPACE,
        label="shape",
        license=GENERATED,
    )


@dataclass(frozen=True)
class SpriteRenderer:
    """Images of factor values (shape, scale, orientation, pos_x, pos_y), on the device of the values.

    Each sprite is rendered on the smallest patch that holds it and copied into a black image. Nothing waits for the
    device.
    """

    size: int
    antialias: bool

    @property
    def shape(self) -> tuple[int, int, int]:
        return (1, self.size, self.size)

    def __call__(self, values: Int[Tensor, "n k"]) -> UInt8[Tensor, "n 1 h w"]:
        shape, scale, orientation, *position = values[:, :, None].float().unbind(1)  # each (n, 1)
        scale = 0.5 + scale / 10
        angle = orientation * (2 * math.pi / 40)
        x, columns = self._along(position[0], scale)
        y, rows = self._along(position[1], scale)
        # The sprite's axes, rotated counterclockwise in the image; at angle 0, u points right and v down.
        u = (angle.cos() * x)[:, None, :] - (angle.sin() * y)[:, :, None]
        v = (angle.sin() * x)[:, None, :] + (angle.cos() * y)[:, :, None]
        shape = shape[:, :, None]
        edge = torch.where(shape == 0, _square(u, v), torch.where(shape == 1, _ellipse(u, v), _heart(u, v)))
        if self.antialias:
            cover = (0.5 - edge * (self.size * scale[:, :, None])).clamp_(0, 1).mul_(255).round_()
        else:
            cover = (edge < 0) * 255
        slot = (rows * self.size)[:, :, None] + columns[:, None, :]
        images = torch.zeros(len(values), self.size**2, dtype=torch.uint8, device=values.device)
        images = images.scatter(1, slot.flatten(1), cover.to(torch.uint8).flatten(1))  # vmap lacks scatter_
        return images.view(-1, *self.shape)

    def _along(
        self, position: Float[Tensor, "n 1"], scale: Float[Tensor, "n 1"]
    ) -> tuple[Float[Tensor, "n p"], Int[Tensor, "n p"]]:
        """The patch's pixels on one axis: distances from the center, and positions in the image."""
        patch = math.ceil(2 * REACH * self.size) + 3
        center = (0.25 + position / 62) * self.size
        first = (center - patch / 2).floor().clamp(0, self.size - patch)
        positions = first + torch.arange(patch, device=position.device)
        return (positions + 0.5 - center) / (self.size * scale), positions.long()


# The fields below work in place: allocating memory would cost as much as the arithmetic.
Field = Float[Tensor, "n p p"]


def _square(u: Field, v: Field) -> Field:
    """Signed distance to the edge of the square, negative inside; exact except outside the corners."""
    return torch.maximum(u.abs(), v.abs()).sub_(HALF_SIDE)


def _ellipse(u: Field, v: Field) -> Field:
    """Signed distance to the ellipse, to first order: f / |∇f| with f = u²/a² + v²/b² - 1."""
    a, b = AXES
    p, q = u.square().div_(a**2), v.square().div_(b**2)
    slope = (p / a**2).add_(q, alpha=1 / b**2).add_(1e-6).sqrt_()  # |∇f| / 2
    return p.add_(q).sub_(1).div_(slope.mul_(2))


def _heart(u: Field, v: Field) -> Field:
    """Signed distance to a heart: a square on its corner with a half disc on each upper side.

    In units of the heart, the square has a diagonal of 1 and its center at the origin.
    """
    radius = math.sqrt(0.125)
    unit = HALF_SIDE / (0.25 + radius)
    x = u.abs().div_(unit)
    y = (v / -unit).add_((radius - 0.25) / 2)  # upwards; the sprite's center is at the middle of its height
    square = y.abs().add_(x).sub_(0.5).mul_(math.sqrt(0.5))
    disc = x.sub_(0.25).square_().add_(y.sub_(0.25).square_()).sqrt_().sub_(radius)
    return torch.minimum(disc, square).mul_(unit)
