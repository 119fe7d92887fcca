"""Drawn faces, plain or with an expression, hat or glasses. They replace photographs and need no download."""

from typing import Literal

import torch
from jaxtyping import Float, UInt8
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.renderer import GENERATED
from unbraid.seeds import derive_seed

Show = Literal["expressions", "accessories"]
CLASSES: dict[Show, tuple[str, ...]] = {
    "expressions": ("angry", "happy", "sad", "surprise"),
    "accessories": ("hat", "glasses"),
}
# How each expression changes a face: bend, opening and width of the mouth, slant and height of the brows.
MOVES = {
    "angry": (-0.5, 0.1, 0.8, -0.9, -0.6),
    "happy": (1.0, 0.35, 1.25, 0.0, 0.2),
    "sad": (-1.0, 0.0, 0.75, 0.9, 0.2),
    "surprise": (0.0, 1.0, 0.55, 0.0, 1.0),
}


def faces(
    *,
    show: Show = "expressions",
    per_class: int = 500,
    plain: int = 1000,
    image_size: int = 48,
    face_seed: int = 0,
) -> Dataset:
    """Drawn faces with an expression, or with a hat or glasses; the background is plain faces.

    Args:
        show: What the target has and the background lacks: `expressions` (angry, happy, sad, surprise) or
            `accessories` (hat, glasses).
        per_class: Number of faces per class.
        plain: Number of plain faces in the background.
        image_size: Side of the images in pixels, at least 28.
        face_seed: Random seed for the faces.
    """
    if image_size < 28 or per_class < 1 or plain < 1:
        raise ValueError(
            "image_size must be at least 28, per_class and plain at least 1; "
            f"got image_size={image_size}, per_class={per_class}, plain={plain}."
        )
    names = CLASSES[show]
    labels = torch.arange(len(names)).repeat_interleave(per_class)
    target = _draw(show, labels, image_size, derive_seed(face_seed, "target"))
    background = _draw(show, torch.full((plain,), -1), image_size, derive_seed(face_seed, "plain"))
    return Dataset(
        target,
        name=f"faces-{show}",
        factor_space=FactorSpace({"label": len(names)}),
        combinations=labels,
        label="label",
        value_names={"label": names},
        background=Dataset(background, name="faces-plain", license=GENERATED),
        license=GENERATED,
    )


def _draw(show: Show, labels: Tensor, size: int, seed: int) -> UInt8[Tensor, "n 1 s s"]:
    """One face per label; -1 is a plain face."""
    generator = Generator().manual_seed(seed)
    batches = [_paint(show, batch, size, generator) for batch in labels.split(512)]
    return (torch.cat(batches) * 255).round().clamp(0, 255).to(torch.uint8)[:, None]


class _Canvas:
    """Gray images under construction, with coordinates x and y from -1 to 1 about the center of each face."""

    def __init__(self, count: int, size: int, generator: Generator) -> None:
        self.count, self.generator = count, generator
        self.sharpness = size / 4  # slope of the edges
        steps = (torch.arange(size) + 0.5) / size * 2 - 1
        self.x = steps[None, None] - self.between(-0.12, 0.12)
        self.y = steps[None, :, None] - self.between(-0.12, 0.12)
        self.image = torch.zeros(count, size, size)

    def between(self, low: float, high: float) -> Float[Tensor, "n 1 1"]:
        """A random number per image."""
        return low + (high - low) * torch.rand(self.count, 1, 1, generator=self.generator)

    def inside(self, distance: Tensor) -> Tensor:
        """1 where a signed distance is negative, 0 where it is positive, with a soft edge."""
        return (0.5 - self.sharpness * distance).clamp(0, 1)

    def ellipse(self, u: Tensor, v: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self.inside(((u / a).square() + (v / b).square()).sqrt().sub(1) * torch.minimum(a, b))

    def lay(self, cover: Tensor, shade: Tensor) -> None:
        """Paints a shade where the cover is 1."""
        self.image = self.image + cover * (shade - self.image)


def _paint(show: Show, labels: Tensor, size: int, generator: Generator) -> Float[Tensor, "n s s"]:
    moves = torch.zeros(len(labels), 5)
    if show == "expressions":
        table = torch.tensor([(0.0,) * 5, *(MOVES[name] for name in CLASSES["expressions"])])
        strength = 0.7 + 0.5 * torch.rand(len(labels), 1, generator=generator)
        moves = table[labels + 1] * strength
    bend, opening, width, slant, lift = moves[:, :, None, None].unbind(1)
    canvas = _Canvas(len(labels), size, generator)
    between, inside, x, y = canvas.between, canvas.inside, canvas.x, canvas.y
    skin, background, ink = between(0.5, 0.95), between(0.05, 0.4), between(0.0, 0.25)
    a, b = between(0.5, 0.68), between(0.62, 0.8)  # semi-axes of the face
    canvas.image = background.expand(len(labels), size, size)
    canvas.lay(canvas.ellipse(x, y, a, b), skin + between(-0.1, 0.1) * x)
    gap, level, eye = between(0.2, 0.28), between(-0.22, -0.1), between(0.05, 0.09)
    for side in (-1, 1):
        u, v = x - side * gap, y - level
        canvas.lay(canvas.ellipse(u, v, eye, eye * (1 + 0.4 * lift.clamp(min=0))), ink)
        brow = v + 0.16 + 0.09 * lift - 0.5 * slant * u * side
        canvas.lay(inside(brow.abs() - 0.025) * inside(u.abs() - 0.12), ink)
    down, half = between(0.28, 0.36), 0.22 * torch.where(width == 0, 1.0, width)
    curve = y - down + 0.14 * bend * ((x / half).square() - 0.5)
    canvas.lay(inside(curve.abs() - 0.025 - 0.12 * opening) * inside(x.abs() - half), ink)
    nose = inside(x.abs() - 0.02) * inside((y - 0.02 - (down + level) / 2).abs() - 0.08)
    canvas.lay(nose, skin * 0.7)
    if show == "accessories":
        hat, glasses = ((labels == index).float()[:, None, None] for index in range(2))
        _paint_hat(canvas, hat, a, b)
        _paint_glasses(canvas, glasses, gap, level, ink)
    return canvas.image


def _paint_hat(canvas: _Canvas, hat: Tensor, a: Tensor, b: Tensor) -> None:
    inside, x, y = canvas.inside, canvas.x, canvas.y
    top, shade = -b + canvas.between(0.2, 0.3), canvas.between(0.0, 1.0)
    canvas.lay(hat * inside((y - top).abs() - 0.06) * inside(x.abs() - a - 0.12), shade)
    canvas.lay(hat * inside(y - top) * inside(top - 0.5 - y) * inside(x.abs() - 0.75 * a), shade)


def _paint_glasses(canvas: _Canvas, glasses: Tensor, gap: Tensor, level: Tensor, ink: Tensor) -> None:
    inside, x, y = canvas.inside, canvas.x, canvas.y
    ring = canvas.between(0.13, 0.17)
    for side in (-1, 1):
        distance = ((x - side * gap).square() + (y - level).square()).sqrt()
        canvas.lay(glasses * inside((distance - ring).abs() - 0.03), ink * 0.3)
    bridge = inside((y - level).abs() - 0.02) * inside(x.abs() - (gap - ring).clamp(min=0.02))
    canvas.lay(glasses * bridge, ink * 0.3)
