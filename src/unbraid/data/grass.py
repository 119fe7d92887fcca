"""Patches of grass: cut from a folder of photographs, or painted here, blade by blade."""

from pathlib import Path
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, UInt8
from torch import Generator, Tensor

from unbraid.data.files import image_files, read_images
from unbraid.data.root import data_root
from unbraid.seeds import derive

SIDE = 96  # to which the middle square of a photograph is brought before patches are cut out
MEADOWS, MEADOW_SIDE, BLADES = 24, 192, 1200  # painted pictures, their side, and blades in each
Part = Literal["train", "validation", "test"]


def grass_patches(
    source: str,
    count: int,
    size: int,
    *,
    root: Path | str | None = None,
    part: Part = "train",
    seed: int = 0,
) -> UInt8[Tensor, "n 3 s s"]:
    """Squares cut at random from photographs of grass.

    Args:
        source: `photographs` for the folder `grass` of the data root, a folder of one's own, `painted` for pictures
            made here, or `auto`: photographs where they are, painted otherwise.
        count: How many patches.
        size: Their side in pixels, at most 96.
        root: The data root.
        part: Of every ten pictures eight train, one validates and one tests.
        seed: Of the places, and of what is painted.
    """
    if not 1 <= size <= SIDE:
        raise ValueError(f"Patches of grass have a side of 1 to {SIDE} pixels; got size={size}.")
    if count < 1:
        raise ValueError(f"At least one patch of grass is needed; got {count}.")
    pictures = photographs(folder) if (folder := grass_folder(source, root)) else painted(seed)
    pictures = pictures[_of_part(len(pictures), part)]
    generator = Generator().manual_seed(derive(seed, "patches" if part == "train" else f"{part} patches"))
    rest = pictures.shape[-1] - size + 1
    which = torch.randint(len(pictures), (count,), generator=generator)
    corner = torch.randint(rest, (2, count), generator=generator)
    inside = torch.arange(size)
    rows, columns = (corner[axis][:, None] + inside for axis in (0, 1))
    return pictures.movedim(1, -1)[which[:, None, None], rows[:, :, None], columns[:, None]].movedim(-1, 1)


def _of_part(count: int, part: Part) -> Bool[Tensor, " n"]:
    """Which of so many pictures are in the part; all of them, in every part, where they are fewer than ten."""
    place = torch.arange(count) % 10
    if count < 10:
        return place >= 0
    return {"train": place < 8, "validation": place == 8, "test": place == 9}[part]


def grass_folder(source: str, root: Path | str | None = None) -> Path | None:
    """The folder of the photographs; None where grass is painted."""
    own = data_root(root) / "grass"
    if source == "painted" or (source == "auto" and not own.is_dir()):
        return None
    folder = own if source in ("auto", "photographs") else Path(source).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{folder} is not a folder: put photographs of grass there, or say painted (--grass painted)."
        )
    return folder


def photographs(folder: Path) -> UInt8[Tensor, "n 3 96 96"]:
    """The middle squares of all images in a folder, in colour."""
    files = image_files(folder)
    if not files:
        raise ValueError(f"{folder} holds no images: put photographs of grass there.")
    return read_images(files, (3, SIDE, SIDE), f"reading {folder.name}")


def painted(seed: int = 0) -> UInt8[Tensor, "n 3 s s"]:
    """Meadows: blades of many greens over dark ground, each meadow with a lean, a tint and a light of its own."""
    from PIL import Image, ImageDraw

    rng = np.random.default_rng(derive(seed, "meadows"))
    pictures = []
    for _ in range(MEADOWS):
        lean, light = rng.normal(0, 0.5), rng.uniform(0.55, 1.0)
        tint = np.array([rng.uniform(0.55, 1.0), 1.0, rng.uniform(0.25, 0.7)])
        ground = rng.uniform(15, 70) * np.array([1.0, 0.9, 0.6])
        picture = Image.new("RGB", (MEADOW_SIDE, MEADOW_SIDE), tuple(ground.astype(int)))
        pen = ImageDraw.Draw(picture)
        for depth in np.linspace(0.35, 1.0, BLADES):  # the nearest last, and brightest
            foot = rng.uniform(-20, MEADOW_SIDE + 20, 2)
            angle, length = lean + rng.normal(0, 0.45), rng.uniform(15, 60)
            tip = foot + length * np.array([np.sin(angle), -np.cos(angle)])
            bend = (foot + tip) / 2 + rng.normal(0, 4, 2)
            colour = 220 * light * depth * rng.uniform(0.6, 1.1) * tint
            width = int(rng.integers(1, 5))
            pen.line(
                [*map(tuple, (foot, bend, tip))], fill=tuple(colour.clip(0, 255).astype(int)), width=width
            )
        pictures.append(np.asarray(picture).transpose(2, 0, 1))
    return torch.from_numpy(np.stack(pictures))
