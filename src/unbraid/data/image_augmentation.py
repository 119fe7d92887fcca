"""SimCLR's augmentations, batched on the device of the images: random crops, flips and color jitter.

Chen et al., 2020, A Simple Framework for Contrastive Learning of Visual Representations, arXiv:2002.05709, App. A.
"""

import math
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Generator, Tensor
from torch.nn import functional as F

from unbraid.types import Images

GRAY = (0.299, 0.587, 0.114)  # perceived brightness of red, green and blue (Rec. 601)
# From RGB to brightness and two color axes (YIQ), in whose plane the hue is an angle.
YIQ = (GRAY, (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112))


def crop_flip_color(x: Images, generator: Generator, *, crop: float, flip: float, color: float) -> Images:
    """Each image randomly cropped and resized, flipped, and color-jittered.

    Args:
        x: Images in [0, 1].
        generator: Source of randomness, on the device of the images.
        crop: Minimum fraction of the area that a crop keeps; the fraction is uniform between it and 1.
        flip: Probability of a horizontal flip.
        color: SimCLR's strength s: brightness, contrast and saturation are multiplied by up to 1 ± 0.8 s, hues
            rotated by up to 0.2 s of a full turn. Gray images change in brightness and contrast only.
    """
    x = crop_and_flip(x, generator, crop, flip) if crop < 1 or flip > 0 else x
    return color_jitter(x, generator, color) if color > 0 else x


def crop_and_flip(x: Images, generator: Generator, crop: float, flip: float) -> Images:
    """A random square of the image, resized bilinearly, and flipped with probability `flip`."""
    u = torch.rand(len(x), 4, generator=generator, device=x.device, dtype=x.dtype)
    side = (crop + (1 - crop) * u[:, 0]).sqrt()
    flip_sign = 1 - 2 * (u[:, 1] < flip).to(x.dtype)
    right, down = ((2 * u[:, 2:] - 1) * (1 - side[:, None])).unbind(1)
    zero = torch.zeros_like(side)
    affine = torch.stack([side * flip_sign, zero, right, zero, side, down], 1).view(-1, 2, 3)
    grid = F.affine_grid(affine, list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


def color_jitter(x: Images, generator: Generator, color: float) -> Images:
    """Hue and saturation change by one matrix per image, contrast by scaling about the mean, brightness by a factor."""
    u = 2 * torch.rand(len(x), 4, generator=generator, device=x.device, dtype=x.dtype) - 1
    brightness, contrast, saturation = (1 + 0.8 * color * u[:, :3]).clamp(min=0).unbind(1)
    if x.shape[1] == 3:
        x = torch.einsum("bij,bjhw->bihw", _hue_saturation_matrix(saturation, 0.2 * color * u[:, 3]), x)
    gray = _yiq_matrix(x.device, x.dtype)[0] if x.shape[1] == 3 else x.new_full((x.shape[1],), 1 / x.shape[1])
    mean = torch.einsum("c,bchw->b", gray, x)[:, None, None, None] / x[0, 0].numel()
    contrast, brightness = (factor[:, None, None, None] for factor in (contrast, brightness))
    return (((x - mean) * contrast + mean) * brightness).clamp(0, 1)


def _hue_saturation_matrix(
    saturation: Float[Tensor, " b"], hue_turns: Float[Tensor, " b"]
) -> Float[Tensor, "b 3 3"]:
    """Matrices that rotate the hue and scale the colors about gray."""
    to_yiq = _yiq_matrix(saturation.device, saturation.dtype)
    cos, sin = saturation * (2 * math.pi * hue_turns).cos(), saturation * (2 * math.pi * hue_turns).sin()
    one, zero = torch.ones_like(cos), torch.zeros_like(cos)
    rotation = torch.stack([one, zero, zero, zero, cos, -sin, zero, sin, cos], 1).view(-1, 3, 3)
    return _yiq_matrix(saturation.device, saturation.dtype, inverse=True) @ rotation @ to_yiq


@lru_cache(maxsize=64)
def _yiq_matrix(device: torch.device, dtype: torch.dtype, *, inverse: bool = False) -> Float[Tensor, "3 3"]:
    """The matrix from RGB to YIQ, or back; cached, because copying it to a GPU would synchronize with the host."""
    with torch.inference_mode(False):
        matrix = torch.tensor(YIQ, dtype=torch.float64)
        return (matrix.inverse() if inverse else matrix).to(device, dtype)
