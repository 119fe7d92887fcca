"""Affine transformations of batches of images, on the device of the images."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from unbraid.types import Images


def affine(
    x: Images,
    *,
    right: Float[Tensor, " b"],
    down: Float[Tensor, " b"],
    angle: Float[Tensor, " b"],
    scale: Float[Tensor, " b"],
) -> Images:
    """Each image scaled and rotated about its center, then translated; pixels from outside are black.

    Args:
        x: Images.
        right: Translation to the right as a fraction of the width.
        down: Translation downwards as a fraction of the height.
        angle: Rotation in radians, counterclockwise in the image.
        scale: Factor by which the image is enlarged.
    """
    height, width = x.shape[2:]
    cos, sin = angle.cos() / scale, angle.sin() / scale
    # The grid holds the source of each pixel in units of half a side: the inverse of the transformation.
    a, b = cos, -sin * (height / width)
    c, d = sin * (width / height), cos
    u, v = 2 * right, 2 * down
    lines = torch.stack([a, b, -(a * u + b * v)], 1), torch.stack([c, d, -(c * u + d * v)], 1)
    grid = F.affine_grid(torch.stack(lines, 1), list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
