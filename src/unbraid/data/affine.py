"""Affine transformations of whole batches of images, on their own device."""

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
    """Each image scaled and turned about its centre, then moved; what comes in from outside is black.

    Args:
        x: Images.
        right: How far to the right, as a part of the width.
        down: How far downwards, as a part of the height.
        angle: Counterclockwise as seen, in radians.
        scale: How many times as large.
    """
    height, width = x.shape[2:]
    cos, sin = angle.cos() / scale, angle.sin() / scale
    # The grid asks where each pixel comes from, in units of half a side: the inverse of what is done to the image.
    a, b = cos, -sin * (height / width)
    c, d = sin * (width / height), cos
    u, v = 2 * right, 2 * down
    lines = torch.stack([a, b, -(a * u + b * v)], 1), torch.stack([c, d, -(c * u + d * v)], 1)
    grid = F.affine_grid(torch.stack(lines, 1), list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
