"""Ten classes of procedural textures: labeled images without a download.

Every class is a pattern. Its two colors, angle, scale and position are random in each image, so that only the pattern
identifies the class.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int, UInt8
from torch import Generator, Tensor

Plane = Float[Tensor, "n h w"]

BRIGHTEST = 0.65  # so that white digits stand out


def textures(
    count: int, generator: Generator, *, size: int = 64
) -> tuple[UInt8[Tensor, "n 3 h w"], Int[Tensor, " n"]]:
    """Images with equally many of each class, and their classes in turn: 0 to 9, 0 to 9, …

    Args:
        count: Number of images per class.
        generator: Source of randomness.
        size: Side of the images in pixels.
    """
    images = torch.stack([_images(pattern, count, generator, size) for pattern in PATTERNS.values()], 1)
    classes = torch.arange(len(PATTERNS)).repeat(count)
    return images.flatten(0, 1), classes


def _images(
    pattern: Callable[[Plane, Plane, Generator], Plane], count: int, generator: Generator, size: int
) -> UInt8[Tensor, "n 3 h w"]:
    """The pattern in rotated, scaled and shifted coordinates, between two colors."""
    u = torch.rand(count, 4, 1, 1, generator=generator)
    angle, period = math.pi * u[:, 0], size * (0.2 + 0.15 * u[:, 1])
    pixels = torch.arange(size, dtype=torch.float32)
    x, y = pixels[None, None, :] + size * u[:, 2], pixels[None, :, None] + size * u[:, 3]
    along, across = angle.cos() * x + angle.sin() * y, angle.cos() * y - angle.sin() * x
    mask = pattern(along / period, across / period, generator)[:, None]
    dark, bright = 0.5 * BRIGHTEST * torch.rand(2, count, 3, 1, 1, generator=generator)
    bright = bright + 0.5 * BRIGHTEST
    image = torch.lerp(dark, bright, mask) + 0.03 * torch.randn(count, 1, size, size, generator=generator)
    return (image.clamp(0, BRIGHTEST) * 255).round().to(torch.uint8)


def _soft(signed: Plane, width: float = 0.08) -> Plane:
    """1 where a field is above 0, and 0 elsewhere, with a soft edge."""
    return (0.5 + signed / width).clamp(0, 1)


def _to_middle(t: Plane) -> Plane:
    """Distance from the center of a unit cell, 0 to ½."""
    return (t - t.floor() - 0.5).abs()


def _stripes(x: Plane, y: Plane, generator: Generator) -> Plane:
    return _soft(_to_middle(x) - 0.25) + 0 * y


def _squares(x: Plane, y: Plane, generator: Generator) -> Plane:
    return _soft((math.pi * x).sin() * (math.pi * y).sin(), 0.2)


def _dots(x: Plane, y: Plane, generator: Generator) -> Plane:
    return _soft(0.3 - (_to_middle(x).square() + _to_middle(y).square()).sqrt())


def _rings(x: Plane, y: Plane, generator: Generator) -> Plane:
    center = torch.rand(2, len(x), 1, 1, generator=generator) * 2 - 1
    x, y = (t - t.mean((1, 2), keepdim=True) - shift for t, shift in zip((x, y), center, strict=True))
    return _soft(_to_middle(x.hypot(y)) - 0.25)


def _waves(x: Plane, y: Plane, generator: Generator) -> Plane:
    return _soft(_to_middle(x + 0.35 * (math.pi * y).sin()) - 0.25)


def _grid(x: Plane, y: Plane, generator: Generator) -> Plane:
    return _soft(torch.maximum(_to_middle(x), _to_middle(y)) - 0.4)


def _bricks(x: Plane, y: Plane, generator: Generator) -> Plane:
    shifted = x / 2 + 0.5 * (y.floor() % 2)
    return _soft(torch.maximum(_to_middle(shifted) - 0.46, _to_middle(y) - 0.42))


def _zigzag(x: Plane, y: Plane, generator: Generator) -> Plane:
    return _soft(_to_middle(x + 2 * _to_middle(y / 2)) - 0.25)


def _clouds(x: Plane, y: Plane, generator: Generator) -> Plane:
    """A sum of plane waves in random directions."""
    count = len(x)
    total = torch.zeros_like(x + y)
    for _ in range(6):
        u = torch.rand(count, 3, 1, 1, generator=generator)
        angle, pace = 2 * math.pi * u[:, 0], 1 + 2 * u[:, 1]
        total += (pace * (angle.cos() * x + angle.sin() * y) + 2 * math.pi * u[:, 2]).sin()
    return (0.5 + total / 4).clamp(0, 1)


def _crosses(x: Plane, y: Plane, generator: Generator) -> Plane:
    a, b = _to_middle(x), _to_middle(y)
    return _soft(torch.maximum(0.12 - a, 0.12 - b).minimum(0.36 - torch.maximum(a, b)))


PATTERNS: dict[str, Callable[[Plane, Plane, Generator], Plane]] = {
    "stripes": _stripes,
    "squares": _squares,
    "dots": _dots,
    "rings": _rings,
    "waves": _waves,
    "grid": _grid,
    "bricks": _bricks,
    "zigzag": _zigzag,
    "clouds": _clouds,
    "crosses": _crosses,
}
