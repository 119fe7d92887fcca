"""Drawn faces: plain ones, and ones with an expression or something worn. No download; a stand-in for photographs."""

from typing import Literal

import torch
from jaxtyping import Float, UInt8
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.seeds import derive

Show = Literal["expressions", "accessories"]
CLASSES: dict[Show, tuple[str, ...]] = {
    "expressions": ("angry", "happy", "sad", "surprise"),
    "accessories": ("hat", "glasses"),
}
# What each expression does to a face: bend of the mouth, its opening, its width, slant of the brows, their height.
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
    size: int = 48,
    face_seed: int = 0,
) -> Dataset:
    """Drawn faces with an expression, or with a hat or glasses, against plain faces.

    Args:
        show: What the target has and the background lacks: `expressions` (angry, happy, sad, surprise) or
            `accessories` (hat, glasses).
        per_class: How many faces of each.
        plain: How many plain faces make the background.
        size: Side of the picture in pixels, at least 28.
        face_seed: Of the faces.
    """
    if size < 28 or per_class < 1 or plain < 1:
        raise ValueError(
            "Faces need at least 28 pixels a side, and at least one of each; "
            f"got size={size}, per_class={per_class}, plain={plain}."
        )
    names = CLASSES[show]
    labels = torch.arange(len(names)).repeat_interleave(per_class)
    target = _draw(show, labels, size, derive(face_seed, "target"))
    background = _draw(show, torch.full((plain,), -1), size, derive(face_seed, "plain"))
    return Dataset(
        target,
        name=f"faces-{show}",
        space=FactorSpace({"label": len(names)}),
        combinations=labels,
        label="label",
        value_names={"label": names},
        background=Dataset(background, name="faces-plain"),
    )


def _draw(show: Show, labels: Tensor, size: int, seed: int) -> UInt8[Tensor, "n 1 s s"]:
    """One face for each label, -1 for a plain one."""
    generator = Generator().manual_seed(seed)
    parts = [_paint(show, part, size, generator) for part in labels.split(512)]
    return (torch.cat(parts) * 255).round().clamp(0, 255).to(torch.uint8)[:, None]


def _paint(show: Show, labels: Tensor, size: int, generator: Generator) -> Float[Tensor, "n s s"]:
    n = len(labels)

    def between(low: float, high: float) -> Float[Tensor, "n 1 1"]:
        return low + (high - low) * torch.rand(n, 1, 1, generator=generator)

    moves = torch.zeros(n, 5)
    if show == "expressions":
        table = torch.tensor([(0.0,) * 5, *(MOVES[name] for name in CLASSES["expressions"])])
        strength = 0.7 + 0.5 * torch.rand(n, 1, generator=generator)
        moves = table[labels + 1] * strength
    bend, opening, width, slant, lift = moves[:, :, None, None].unbind(1)
    steps = (torch.arange(size) + 0.5) / size * 2 - 1
    x = steps[None, None] - between(-0.12, 0.12)
    y = steps[None, :, None] - between(-0.12, 0.12)
    soft = size / 4  # how steep edges are

    def inside(distance: Tensor) -> Tensor:
        return (0.5 - soft * distance).clamp(0, 1)

    def ellipse(u: Tensor, v: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return inside(((u / a).square() + (v / b).square()).sqrt().sub(1) * torch.minimum(a, b))

    skin, ground, ink = between(0.5, 0.95), between(0.05, 0.4), between(0.0, 0.25)
    a, b = between(0.5, 0.68), between(0.62, 0.8)
    picture = ground.expand(n, size, size)

    def lay(cover: Tensor, shade: Tensor) -> None:
        nonlocal picture
        picture = picture + cover * (shade - picture)

    lay(ellipse(x, y, a, b), skin + between(-0.1, 0.1) * x)
    apart, level, eye = between(0.2, 0.28), between(-0.22, -0.1), between(0.05, 0.09)
    for side in (-1, 1):
        u, v = x - side * apart, y - level
        lay(ellipse(u, v, eye, eye * (1 + 0.4 * lift.clamp(min=0))), ink)
        brow = v + 0.16 + 0.09 * lift - 0.5 * slant * u * side
        lay(inside(brow.abs() - 0.025) * inside(u.abs() - 0.12), ink)
    down, half = between(0.28, 0.36), 0.22 * torch.where(width == 0, 1.0, width)
    curve = y - down + 0.14 * bend * ((x / half).square() - 0.5)
    lay(inside(curve.abs() - 0.025 - 0.12 * opening) * inside(x.abs() - half), ink)
    lay(inside(x.abs() - 0.02) * inside((y - 0.02 - (down + level) / 2).abs() - 0.08), skin * 0.7)
    if show == "accessories":
        hat, glasses = ((labels == place).float()[:, None, None] for place in range(2))
        top, shade = -b + between(0.2, 0.3), between(0.0, 1.0)
        lay(hat * inside((y - top).abs() - 0.06) * inside(x.abs() - a - 0.12), shade)
        lay(hat * inside(y - top) * inside(top - 0.5 - y) * inside(x.abs() - 0.75 * a), shade)
        ring = between(0.13, 0.17)
        for side in (-1, 1):
            far = ((x - side * apart).square() + (y - level).square()).sqrt()
            lay(glasses * inside((far - ring).abs() - 0.03), ink * 0.3)
        lay(
            glasses * inside((y - level).abs() - 0.02) * inside(x.abs() - (apart - ring).clamp(min=0.02)),
            ink * 0.3,
        )
    return picture
