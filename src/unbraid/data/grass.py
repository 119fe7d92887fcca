"""Patches of grass: cropped from a folder of photographs, or painted blade by blade."""

from pathlib import Path
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, UInt8
from torch import Generator, Tensor

from unbraid.data.image_folder import image_files, read_images
from unbraid.data.root import data_root
from unbraid.seeds import derive_seed

SIDE = 96  # side to which center crops of photographs are resized before patches are cropped
PAINTED_IMAGES, PAINTED_SIDE, BLADES = 24, 192, 1200  # number of painted images, their side, blades per image
Split = Literal["train", "validation", "test"]


def grass_patches(
    source: str,
    count: int,
    size: int,
    *,
    root: Path | str | None = None,
    split: Split = "train",
    seed: int = 0,
) -> UInt8[Tensor, "n 3 s s"]:
    """Squares cropped at random from images of grass.

    Args:
        source: `photographs` for the folder `grass` of the data root, another folder, `painted` for generated images,
            or `auto`: photographs if they are present, otherwise painted.
        count: Number of patches.
        size: Side of the patches in pixels, at most 96.
        root: The data root.
        split: Eight of every ten images are for training, one for validation and one for testing.
        seed: Random seed for the crops and the painted images.
    """
    if not 1 <= size <= SIDE:
        raise ValueError(f"Patches of grass need a side of 1 to {SIDE} pixels; got size={size}.")
    if count < 1:
        raise ValueError(f"At least one patch of grass is needed; got {count}.")
    images = read_photographs(folder) if (folder := grass_folder(source, root)) else paint_grass(seed)
    images = images[_in_split(len(images), split)]
    generator = Generator().manual_seed(
        derive_seed(seed, "patches" if split == "train" else f"{split} patches")
    )
    positions = images.shape[-1] - size + 1
    image = torch.randint(len(images), (count,), generator=generator)
    corners = torch.randint(positions, (2, count), generator=generator)
    offsets = torch.arange(size)
    rows, columns = (corners[axis][:, None] + offsets for axis in (0, 1))
    return images.movedim(1, -1)[image[:, None, None], rows[:, :, None], columns[:, None]].movedim(-1, 1)


def _in_split(count: int, split: Split) -> Bool[Tensor, " n"]:
    """Which of `count` images are in the split; with fewer than ten images, every split has all of them."""
    position = torch.arange(count) % 10
    if count < 10:
        return position >= 0
    return {"train": position < 8, "validation": position == 8, "test": position == 9}[split]


def resolve_grass(source: str, root: Path | str | None = None) -> str:
    """The source itself; for `auto`, photographs if their folder is present, otherwise painted grass."""
    if source != "auto":
        return source
    return "photographs" if (data_root(root) / "grass").is_dir() else "painted"


def grass_folder(source: str, root: Path | str | None = None) -> Path | None:
    """The folder of the photographs; None if grass is painted."""
    source = resolve_grass(source, root)
    if source == "painted":
        return None
    folder = data_root(root) / "grass" if source == "photographs" else Path(source).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{folder} is not a folder: put photographs of grass there, or pass --grass painted."
        )
    return folder


def read_photographs(folder: Path) -> UInt8[Tensor, "n 3 96 96"]:
    """Center crops of all images in a folder, in color."""
    files = image_files(folder)
    if not files:
        raise ValueError(f"{folder} contains no images: put photographs of grass there.")
    return read_images(files, (3, SIDE, SIDE), f"reading {folder.name}")


def paint_grass(seed: int = 0) -> UInt8[Tensor, "n 3 s s"]:
    """Generated images of grass: green blades over dark soil; lean, tint and brightness differ per image."""
    from PIL import Image, ImageDraw

    rng = np.random.default_rng(derive_seed(seed, "meadows"))
    images = []
    for _ in range(PAINTED_IMAGES):
        lean, brightness = rng.normal(0, 0.5), rng.uniform(0.55, 1.0)
        tint = np.array([rng.uniform(0.55, 1.0), 1.0, rng.uniform(0.25, 0.7)])
        soil = rng.uniform(15, 70) * np.array([1.0, 0.9, 0.6])
        image = Image.new("RGB", (PAINTED_SIDE, PAINTED_SIDE), tuple(soil.astype(int)))
        pen = ImageDraw.Draw(image)
        for depth in np.linspace(0.35, 1.0, BLADES):  # the nearest blades last and brightest
            foot = rng.uniform(-20, PAINTED_SIDE + 20, 2)
            angle, length = lean + rng.normal(0, 0.45), rng.uniform(15, 60)
            tip = foot + length * np.array([np.sin(angle), -np.cos(angle)])
            bend = (foot + tip) / 2 + rng.normal(0, 4, 2)
            color = 220 * brightness * depth * rng.uniform(0.6, 1.1) * tint
            width = int(rng.integers(1, 5))
            pen.line(
                [*map(tuple, (foot, bend, tip))], fill=tuple(color.clip(0, 255).astype(int)), width=width
            )
        images.append(np.asarray(image).transpose(2, 0, 1))
    return torch.from_numpy(np.stack(images))
