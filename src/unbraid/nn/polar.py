"""Encoder in polar coordinates: a rotation of the image becomes a shift, which pooling removes.

All weights have PyTorch's default initialization (uniform, scaled by the number of inputs).
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from unbraid.nn.base import Encoder
from unbraid.nn.channelwise import Channelwise
from unbraid.nn.conv import padding_and_map_side
from unbraid.nn.standardize import Standardize
from unbraid.settings import require_shape
from unbraid.types import Gaussian, Images

PolarImages = Float[Tensor, "b c radii angles"]
Maps = Float[Tensor, "_ _ _ _"]  # polar feature maps of any size
KERNEL = (4, 5)  # radii (stride 2) and angles
CHANNELS = (32, 32, 64, 64)
HIDDEN = 256


class Polar(nn.Module):
    """Square images in polar coordinates around their center: one row per radius, one column per angle.

    Each value is interpolated bilinearly from the four nearest pixels. All positions are inside the inscribed circle of
    the image; the corners are ignored. A counterclockwise rotation by 360° / angles is a shift by one column.

    Args:
        side: Side of the images in pixels, at least 2.
        radii: Number of radii, evenly spaced from the center to the edge.
        angles: Number of angles, evenly spaced around the circle.
    """

    positions: Int[Tensor, " n"]
    weights: Float[Tensor, "4 radii angles"]

    def __init__(self, side: int, *, radii: int, angles: int) -> None:
        super().__init__()
        if side < 2 or radii < 1 or angles < 1:
            raise ValueError(
                "Polar coordinates require a side of at least 2 pixels, 1 radius and 1 angle; got "
                f"side={side}, radii={radii}, angles={angles}."
            )
        center = (side - 1) / 2
        radius = (torch.arange(radii, dtype=torch.float64)[:, None] + 0.5) * center / radii
        angle = torch.arange(angles, dtype=torch.float64) * 2 * math.pi / angles
        row, column = center - radius * angle.sin(), center + radius * angle.cos()
        top, left = row.floor(), column.floor()
        positions, weights = [], []
        for down, across in ((0, 0), (0, 1), (1, 0), (1, 1)):
            positions.append((top + down) * side + left + across)
            weights.append((1 - (top + down - row).abs()) * (1 - (left + across - column).abs()))
        # Both follow from the arguments, so run folders do not store them.
        self.register_buffer("positions", torch.stack(positions).long().flatten(), persistent=False)
        self.register_buffer("weights", torch.stack(weights).float(), persistent=False)

    def forward(self, x: Images) -> PolarImages:
        neighbors = x.flatten(2).index_select(2, self.positions).unflatten(2, self.weights.shape)
        return (neighbors * self.weights).sum(2)


class CircularDownConv(nn.Conv2d):
    """Convolution with stride 2 along the radii and circular padding along the angles; radii are zero-padded."""

    def __init__(self, before: int, after: int, dilation: int = 1) -> None:
        super().__init__(before, after, KERNEL, stride=(2, 1), padding=(1, 0), dilation=(1, dilation))
        self.padded_angles = KERNEL[1] // 2 * dilation

    def forward(self, x: Maps) -> Maps:
        return super().forward(
            torch.cat([x[..., -self.padded_angles :], x, x[..., : self.padded_angles]], -1)
        )


class MaxOverAngles(nn.Module):
    """Maximum over all angles for each map and radius, flattened."""

    def forward(self, x: Maps) -> Float[Tensor, "_ _"]:
        return x.amax(3).flatten(1)


class PolarEncoder(Encoder):
    """Encoder of images that is invariant to colors and to rotations around the image center.

    Each channel is standardized to mean 0 and standard deviation 1, sampled in polar coordinates and convolved with
    kernels that cover nearly the whole circle. The maximum of each feature over angles and channels is used. A rotation
    by a multiple of the angular step changes the code only by the error of bilinear interpolation.

    Args:
        shape: Channels, height and width; a square of side 28, 32, 48, 64 or 96.
        latent_dim: Number of dimensions of the code.
    """

    def __init__(self, shape: tuple[int, int, int], latent_dim: int) -> None:
        super().__init__()
        self.shape, self.latent_dim = shape, latent_dim
        _, maps = padding_and_map_side(shape)
        radii, angles = 8 * maps, 16 * maps  # at least one radius per pixel from the center to the edge
        modules: list[nn.Module] = [Standardize(), Polar(shape[1], radii=radii, angles=angles)]
        before = 1
        for channels, dilation in zip(CHANNELS, (1, 1, angles // 16, angles // 8), strict=True):
            modules += [CircularDownConv(before, channels, dilation), nn.ReLU()]
            before, radii = channels, radii // 2
        modules += [MaxOverAngles(), nn.Linear(before * radii, HIDDEN), nn.ReLU()]
        self.trunk = Channelwise(nn.Sequential(*modules))
        self.heads = nn.Linear(HIDDEN, 2 * latent_dim)  # mean and log-variance

    def forward(self, x: Images) -> Gaussian:
        require_shape(self, x)
        return Gaussian(*self.heads(self.trunk(x)).chunk(2, 1))
