"""Labeled images from STL-10, CIFAR-10 or generated textures, src/unbraid/data/backgrounds.py."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.data import backgrounds as module
from unbraid.data.backgrounds import CIFAR10, read_backgrounds, resolve_backgrounds
from unbraid.data.root import data_root


def write_stl10(folder: Path) -> np.ndarray:
    """Files in the official layout: one picture after the other, channel by channel, column by column."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 256, (5, 3, 96, 96), dtype=np.uint8)
    for part, rows in (("train", slice(0, 2)), ("test", slice(2, 5))):
        pictures[rows].transpose(0, 1, 3, 2).tofile(folder / f"{part}_X.bin")
        (np.arange(5, dtype=np.uint8)[rows] + 1).tofile(folder / f"{part}_y.bin")
    return pictures


def write_cifar10(root: Path) -> np.ndarray:
    (root / CIFAR10).parent.mkdir(parents=True)
    images = np.random.default_rng(0).integers(0, 256, (10, 32, 32, 3), dtype=np.uint8)
    names = np.array([f"class {label}" for label in range(10)])
    np.savez(root / CIFAR10, images=images, labels=np.arange(10, dtype=np.uint8), class_names=names)
    return images


@pytest.mark.parametrize("inside", ["stl10", "stl10/stl10_binary"])
def test_stl10_is_read_as_it_was_written_and_cut_out_of_the_middle(tmp_path: Path, inside: str) -> None:
    pictures = write_stl10(tmp_path / inside)
    assert resolve_backgrounds("auto", tmp_path) == "stl10"
    images, labels, names = read_backgrounds("auto", tmp_path)
    assert_close(images, torch.from_numpy(pictures[:, :, 16:80, 16:80].copy()))
    assert labels.tolist() == [0, 1, 2, 3, 4] and names[0] == "airplane" and len(names) == 10


def test_cifar10_stands_in_and_is_enlarged(tmp_path: Path) -> None:
    pictures = write_cifar10(tmp_path)
    assert resolve_backgrounds("auto", tmp_path) == "cifar10"
    images, labels, names = read_backgrounds("auto", tmp_path)
    assert images.shape == (10, 3, 64, 64) and labels.tolist() == [*range(10)] and names[3] == "class 3"
    corner = images[:, :, 0, 0]  # bilinear: the corner is the corner
    assert_close(corner, torch.from_numpy(pictures[:, 0, 0].copy()))


def test_textures_replace_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TEXTURES", 2)
    assert resolve_backgrounds("auto", tmp_path) == "textures"
    images, labels, names = read_backgrounds("auto", tmp_path)
    assert images.shape == (20, 3, 64, 64) and torch.bincount(labels).tolist() == [2] * 10
    assert names[0] == "stripes"


def test_mistakes_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="backgrounds must be auto, stl10, cifar10, textures; got backgrounds='mars'"
    ):
        resolve_backgrounds("mars")
    with pytest.raises(FileNotFoundError, match=r"stl10 lacks train_X.bin.*choose other backgrounds"):
        read_backgrounds("stl10", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"cifar10_13k.npz does not exist"):
        read_backgrounds("cifar10", tmp_path)
    write_stl10(tmp_path / "stl10")
    (tmp_path / "stl10" / "test_X.bin").write_bytes(b"short")
    with pytest.raises(ValueError, match=r"test_X.bin is damaged, cut short or of another kind"):
        read_backgrounds("stl10", tmp_path)
    write_stl10(tmp_path / "other" / "stl10")
    (tmp_path / "other" / "stl10" / "train_y.bin").write_bytes(bytes([0, 11]))
    with pytest.raises(ValueError, match="should hold 2 classes from 1 to 10"):
        read_backgrounds("stl10", tmp_path / "other")
    (tmp_path / "other" / "stl10" / "train_y.bin").write_bytes(bytes([1, 2, 3]))
    with pytest.raises(ValueError, match="should hold 2 classes from 1 to 10"):
        read_backgrounds("stl10", tmp_path / "other")


@pytest.mark.skipif(not (data_root() / CIFAR10).is_file(), reason="cifar10_13k.npz is not in the data root")
def test_the_real_photographs() -> None:
    images, labels, names = read_backgrounds("cifar10")
    assert images.shape == (13_000, 3, 64, 64) and torch.bincount(labels).min() > 1_000
    assert names[:3] == ("airplane", "automobile", "bird")
