"""Patches of grass, src/unbraid/data/grass.py."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from unbraid.data.grass import grass_folder, grass_patches, paint_grass


@pytest.fixture
def photographs(tmp_path: Path) -> Path:
    folder = tmp_path / "root" / "grass"
    folder.mkdir(parents=True)
    for index in range(3):  # red tells the picture, green the row, blue the column
        pixels = np.zeros((96, 96, 3), np.uint8)
        pixels[..., 0], pixels[..., 1], pixels[..., 2] = 50 * index, np.arange(96)[:, None], np.arange(96)
        Image.fromarray(pixels).save(folder / f"{index}.png")
    return folder


def test_patches_are_squares_of_the_photographs(photographs: Path) -> None:
    patches = grass_patches("photographs", 200, 28, root=photographs.parent)
    assert patches.shape == (200, 3, 28, 28) and patches.dtype == torch.uint8
    red, green, blue = patches.long().unbind(1)
    assert set(red.unique().tolist()) == {0, 50, 100} and (red == red[:, :1, :1]).all()
    assert (green[:, 1:] - green[:, :-1] == 1).all() and (blue[:, :, 1:] - blue[:, :, :-1] == 1).all()
    assert green[:, 0, 0].min() < 8 and green[:, 0, 0].max() > 60  # cut all over


def test_the_seed_decides(photographs: Path) -> None:
    first, same, other = (grass_patches(str(photographs), 10, 28, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(first, same) and not torch.equal(first, other)


def test_splits_are_cropped_from_different_images(tmp_path: Path) -> None:
    for index in range(20):
        Image.fromarray(np.full((96, 96, 3), index, np.uint8)).save(tmp_path / f"{index:02}.png")
    shown = [
        set(grass_patches(str(tmp_path), 300, 4, split=part).unique().tolist())  # type: ignore[arg-type]
        for part in ("train", "validation", "test")
    ]
    assert shown == [{*range(8), *range(10, 18)}, {8, 18}, {9, 19}]


def test_grass_is_painted_without_photographs(tmp_path: Path, photographs: Path) -> None:
    assert grass_folder("auto", tmp_path) is None and grass_folder("painted", photographs.parent) is None
    assert grass_folder("auto", photographs.parent) == photographs
    patches = grass_patches("auto", 100, 28, root=tmp_path).float()
    assert patches.std() > 20  # it has structure,
    assert patches[:, 1].mean() > patches[:, 2].mean() + 20  # and is green rather than blue
    assert torch.equal(paint_grass(3), paint_grass(3))


def test_mistakes_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"is not a folder.*--grass painted"):
        grass_patches("photographs", 5, 28, root=tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="contains no images"):
        grass_patches(str(tmp_path / "empty"), 5, 28)
    with pytest.raises(ValueError, match="side of 1 to 96"):
        grass_patches("painted", 5, 97)
    with pytest.raises(ValueError, match="At least one patch"):
        grass_patches("painted", 0, 28)
