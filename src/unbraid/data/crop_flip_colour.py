"""Random crops, flips and colours of whole batches, on their device: SimCLR's distortions.

Chen et al., 2020, A Simple Framework for Contrastive Learning of Visual Representations, arXiv:2002.05709, App. A.
"""

import math
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Generator, Tensor
from torch.nn import functional as F

from unbraid.types import Images

GREY = (0.299, 0.587, 0.114)  # how bright red, green and blue look (Rec. 601)
# Red, green and blue to brightness and two axes of colour, around which a hue is an angle (YIQ).
YIQ = (GREY, (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112))


def crop_flip_colour(x: Images, generator: Generator, *, crop: float, flip: float, colour: float) -> Images:
    """Each image cropped at a random place and stretched to its old size, mirrored, and coloured anew.

    Args:
        x: Images in [0, 1].
        generator: Of all random numbers; on the images' device.
        crop: The least share of the area that a crop keeps; the share is uniform between that and 1.
        flip: How likely an image is mirrored, left for right.
        colour: SimCLR's strength: brightness, contrast and saturation are multiplied by up to 1 ± 0.8 of it,
            and hues turned by up to 0.2 of a turn. Grey images keep to brightness and contrast.
    """
    x = crop_and_flip(x, generator, crop, flip) if crop < 1 or flip > 0 else x
    return recolour(x, generator, colour) if colour > 0 else x


def crop_and_flip(x: Images, generator: Generator, crop: float, flip: float) -> Images:
    """Bilinear samples of a square of the image, with the chance `flip` in reverse order."""
    u = torch.rand(len(x), 4, generator=generator, device=x.device, dtype=x.dtype)
    side = (crop + (1 - crop) * u[:, 0]).sqrt()
    mirrored = 1 - 2 * (u[:, 1] < flip).to(x.dtype)
    right, down = ((2 * u[:, 2:] - 1) * (1 - side[:, None])).unbind(1)
    zero = torch.zeros_like(side)
    affine = torch.stack([side * mirrored, zero, right, zero, side, down], 1).view(-1, 2, 3)
    grid = F.affine_grid(affine, list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


def recolour(x: Images, generator: Generator, colour: float) -> Images:
    """Hue and saturation by one matrix an image, contrast about its mean, brightness by a factor."""
    u = 2 * torch.rand(len(x), 4, generator=generator, device=x.device, dtype=x.dtype) - 1
    bright, contrast, saturation = (1 + 0.8 * colour * u[:, :3]).clamp(min=0).unbind(1)
    if x.shape[1] == 3:
        x = torch.einsum("bij,bjhw->bihw", _colours(saturation, 0.2 * colour * u[:, 3]), x)
    grey = _matrix(x.device, x.dtype)[0] if x.shape[1] == 3 else x.new_full((x.shape[1],), 1 / x.shape[1])
    mean = torch.einsum("c,bchw->b", grey, x)[:, None, None, None] / x[0, 0].numel()
    wide = [factor[:, None, None, None] for factor in (contrast, bright)]
    return (((x - mean) * wide[0] + mean) * wide[1]).clamp(0, 1)


def _colours(saturation: Float[Tensor, " b"], turns: Float[Tensor, " b"]) -> Float[Tensor, "b 3 3"]:
    """What turns the hue and stretches the colours about grey."""
    to_yiq = _matrix(saturation.device, saturation.dtype)
    cos, sin = saturation * (2 * math.pi * turns).cos(), saturation * (2 * math.pi * turns).sin()
    one, zero = torch.ones_like(cos), torch.zeros_like(cos)
    turn = torch.stack([one, zero, zero, zero, cos, -sin, zero, sin, cos], 1).view(-1, 3, 3)
    return _matrix(saturation.device, saturation.dtype, inverse=True) @ turn @ to_yiq


@lru_cache(maxsize=64)
def _matrix(device: torch.device, dtype: torch.dtype, *, inverse: bool = False) -> Float[Tensor, "3 3"]:
    """Red, green and blue to YIQ, or back; kept, because copying numbers to a device makes the host wait."""
    with torch.inference_mode(False):
        matrix = torch.tensor(YIQ, dtype=torch.float64)
        return (matrix.inverse() if inverse else matrix).to(device, dtype)
