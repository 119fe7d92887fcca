"""Labeled color images to use as backgrounds: STL-10, a subset of CIFAR-10, or generated textures.

Coates et al., 2011, An Analysis of Single-Layer Networks in Unsupervised Feature Learning (STL-10).
"""

from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Generator, Tensor
from torch.nn import functional as F

from unbraid.data.numpy_files import read_npz
from unbraid.data.root import data_root
from unbraid.data.texture_classes import PATTERNS, textures
from unbraid.data.unpack import explain_read_errors

BackgroundSource = Literal["auto", "stl10", "cifar10", "textures"]
SIDE = 64
STL10 = ("train", "test")  # 5,000 and 8,000 labeled images; their files are in stl10/ or stl10/stl10_binary/
STL10_SIDE = 96
CIFAR10 = Path("cifar10") / "cifar10_13k.npz"  # as many images as STL-10 has labeled ones
TEXTURES = 500  # per class
CLASSES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")


class Backgrounds(NamedTuple):
    """Images of ten classes."""

    images: UInt8[Tensor, "n 3 64 64"]
    labels: Int[Tensor, " n"]
    class_names: tuple[str, ...]


def resolve_backgrounds(kind: str, root: Path | str | None = None) -> str:
    """The source itself; for `auto`, the first of STL-10, CIFAR-10 and textures whose files are present."""
    if kind not in get_args(BackgroundSource):
        raise ValueError(
            f"backgrounds must be {', '.join(get_args(BackgroundSource))}; got backgrounds={kind!r}."
        )
    if kind != "auto":
        return kind
    if _stl10_folder(root) is not None:
        return "stl10"
    return "cifar10" if (data_root(root) / CIFAR10).is_file() else "textures"


def read_backgrounds(kind: BackgroundSource = "auto", root: Path | str | None = None) -> Backgrounds:
    """Images of 64×64 with their classes.

    STL-10 images are center crops of 96×96; CIFAR-10 images are enlarged from 32×32.
    """
    source = resolve_backgrounds(kind, root)
    if source == "stl10":
        return _stl10(root)
    if source == "cifar10":
        return _cifar10(data_root(root) / CIFAR10)
    images, labels = textures(TEXTURES, Generator().manual_seed(0), size=SIDE)
    return Backgrounds(images, labels, tuple(PATTERNS))


def _stl10_folder(root: Path | str | None) -> Path | None:
    for folder in (data_root(root) / "stl10", data_root(root) / "stl10" / "stl10_binary"):
        if all((folder / f"{split}_{array}.bin").is_file() for split in STL10 for array in "Xy"):
            return folder
    return None


def _stl10(root: Path | str | None) -> Backgrounds:
    """The labeled images, training first, from the official binary files, or from smaller files of their format."""
    folder = _stl10_folder(root)
    if folder is None:
        raise FileNotFoundError(
            f"{data_root(root) / 'stl10'} lacks train_X.bin, train_y.bin, test_X.bin or test_y.bin: unpack "
            "stl10_binary.tar.gz from https://cs.stanford.edu/~acoates/stl10/ there, or choose other backgrounds."
        )
    crops, classes = [], []
    edge = (STL10_SIDE - SIDE) // 2
    for split in STL10:
        with explain_read_errors(folder / f"{split}_X.bin"):
            stored = np.fromfile(folder / f"{split}_X.bin", np.uint8)
            stored = stored.reshape(-1, 3, STL10_SIDE, STL10_SIDE).transpose(0, 1, 3, 2)  # columns first
        with explain_read_errors(folder / f"{split}_y.bin"):
            numbers = np.fromfile(folder / f"{split}_y.bin", np.uint8)
            if not len(numbers) or len(numbers) != len(stored) or numbers.min() < 1 or numbers.max() > 10:
                raise ValueError(f"it should hold {len(stored)} classes from 1 to 10")
        crops.append(stored[:, :, edge : edge + SIDE, edge : edge + SIDE].copy())
        classes.append(numbers - 1)
    images, labels = np.concatenate(crops), np.concatenate(classes)
    return Backgrounds(torch.from_numpy(images), torch.from_numpy(labels).long(), CLASSES)


def _cifar10(path: Path) -> Backgrounds:
    """13,000 images of CIFAR-10, in place of the 13,000 labeled images of STL-10."""
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist: put an .npz with images (n, 32, 32, 3), labels and class_names there, or "
            "choose other backgrounds."
        )
    with explain_read_errors(path):
        stored = read_npz(path, ["images", "labels", "class_names"])
        images, labels = stored["images"], stored["labels"]
        names = tuple(str(name) for name in stored["class_names"])
        if images.ndim != 4 or images.shape[1:] != (32, 32, 3) or labels.shape != (len(images),):
            raise ValueError(f"it should hold images (n, 32, 32, 3) and n labels, not {images.shape}")
    large = [
        F.interpolate(batch.movedim(3, 1).float(), (SIDE, SIDE), mode="bilinear").round().to(torch.uint8)
        for batch in torch.from_numpy(images).split(1024)
    ]
    return Backgrounds(torch.cat(large), torch.from_numpy(labels).long(), names)
