"""Pictures read around their middle, so that a turn of what is drawn is a shift, and is pooled away.

All weights start as PyTorch's defaults (uniform, by the number of inputs).
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from unbraid.nn.base import Encoder
from unbraid.nn.channelwise import Channelwise
from unbraid.nn.conv import fit
from unbraid.nn.standardise import Standardise
from unbraid.types import Gaussian, Images

Around = Float[Tensor, "b c radii angles"]
Maps = Float[Tensor, "_ _ _ _"]  # the same with any number of each
KERNEL = (4, 5)  # radii, of which every second is kept, and angles
CHANNELS = (32, 32, 64, 64)
HIDDEN = 256


class Polar(nn.Module):
    """Square pictures in polar coordinates about their middle: a row for each radius, a column for each angle.

    Each value is drawn bilinearly from the four pixels around its place. The places lie within the circle that the
    picture's edges touch: what is in the corners is not seen. A picture turned counterclockwise by 360° / angles is
    shifted by one column.

    Args:
        side: Of the pictures in pixels, at least 2.
        radii: How many there are, evenly from the middle to the edge.
        angles: How many there are, evenly around the circle.
    """

    places: Int[Tensor, " n"]
    weights: Float[Tensor, "4 radii angles"]

    def __init__(self, side: int, *, radii: int, angles: int) -> None:
        super().__init__()
        if side < 2 or radii < 1 or angles < 1:
            raise ValueError(
                "A picture in polar coordinates needs a side of at least 2 pixels, 1 radius and 1 angle; got "
                f"side={side}, radii={radii}, angles={angles}."
            )
        middle = (side - 1) / 2
        radius = (torch.arange(radii, dtype=torch.float64)[:, None] + 0.5) * middle / radii
        angle = torch.arange(angles, dtype=torch.float64) * 2 * math.pi / angles
        row, column = middle - radius * angle.sin(), middle + radius * angle.cos()
        top, left = row.floor(), column.floor()
        places, weights = [], []
        for down, across in ((0, 0), (0, 1), (1, 0), (1, 1)):
            places.append((top + down) * side + left + across)
            weights.append((1 - (top + down - row).abs()) * (1 - (left + across - column).abs()))
        # Both follow from the arguments, so that no run folder needs to keep them.
        self.register_buffer("places", torch.stack(places).long().flatten(), persistent=False)
        self.register_buffer("weights", torch.stack(weights).float(), persistent=False)

    def forward(self, x: Images) -> Around:
        found = x.flatten(2).index_select(2, self.places).unflatten(2, self.weights.shape)
        return (found * self.weights).sum(2)


class CircularHalving(nn.Conv2d):
    """A convolution that halves the radii and keeps every angle; the first angle is the last one's neighbour.

    Beyond the smallest and the largest radius there are zeros. `apart` is how many angles lie from one tap of the
    kernel to the next.
    """

    def __init__(self, before: int, after: int, apart: int = 1) -> None:
        super().__init__(before, after, KERNEL, stride=(2, 1), padding=(1, 0), dilation=(1, apart))
        self.reach = KERNEL[1] // 2 * apart

    def forward(self, x: Maps) -> Maps:
        return super().forward(torch.cat([x[..., -self.reach :], x, x[..., : self.reach]], -1))


class LargestOverAngles(nn.Module):
    """Of each map and radius the largest value over all angles, laid out flat."""

    def forward(self, x: Maps) -> Float[Tensor, "_ _"]:
        return x.amax(3).flatten(1)


class PolarEncoder(Encoder):
    """Images to posteriors, of what is drawn and neither its colours nor how far it is turned about the middle.

    Each channel is read by itself, brought to mean 0 and spread 1, in polar coordinates, by convolutions that see
    nearly the whole circle; of each feature the largest over all angles counts, and over the channels. A turn by a
    whole number of steps between two angles then changes nothing but what bilinear drawing does; a 6 and a 9 are
    told apart by how they are written, not by which way up they stand.

    Args:
        shape: Channels, height and width; a square of side 28, 32, 48, 64 or 96.
        codes: The number of dimensions of the code.
    """

    def __init__(self, shape: tuple[int, int, int], codes: int) -> None:
        super().__init__()
        self.shape, self.codes = shape, codes
        _, maps = fit(shape)
        radii, angles = 8 * maps, 16 * maps  # a radius or more for each pixel from the middle to the edge
        modules: list[nn.Module] = [Standardise(), Polar(shape[1], radii=radii, angles=angles)]
        before = 1
        for channels, apart in zip(CHANNELS, (1, 1, angles // 16, angles // 8), strict=True):
            modules += [CircularHalving(before, channels, apart), nn.ReLU()]
            before, radii = channels, radii // 2
        modules += [LargestOverAngles(), nn.Linear(before * radii, HIDDEN), nn.ReLU()]
        self.trunk = Channelwise(nn.Sequential(*modules))
        self.heads = nn.Linear(HIDDEN, 2 * codes)  # mean and log-variance

    def forward(self, x: Images) -> Gaussian:
        if x.shape[1:] != self.shape:
            raise ValueError(f"The encoder was made for images {self.shape}; got {tuple(x.shape[1:])}.")
        return Gaussian(*self.heads(self.trunk(x)).chunk(2, 1))
