"""Oxford Flowers 102: photographs of flowers. Nilsback and Zisserman, 2008, Automated Flower Classification over a
Large Number of Classes."""

import re
import shutil
import tarfile
from pathlib import Path

import numpy as np
import torch

from unbraid.data.dataset import Dataset
from unbraid.data.download import Files, Source
from unbraid.data.factors import FactorSpace
from unbraid.data.files import read_images
from unbraid.data.root import data_root
from unbraid.data.unpack import readable

ADDRESS = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102"
IMAGES = Source(url=f"{ADDRESS}/102flowers.tgz", sha256=None, file="flowers102/102flowers.tgz")
LABELS = Source(url=f"{ADDRESS}/imagelabels.mat", sha256=None, file="flowers102/imagelabels.mat")
CLASSES = 102


class Flowers(Files):
    """The official files; the archive is not needed where its folder of pictures is."""

    def locate(self, root: Path | str | None = None) -> Path:
        return self.path(root) if (self.path(root) / "jpg").is_dir() else super().locate(root)

    def verify(self, path: Path) -> None:
        """There are no published hashes: that no picture is missing, and that each can be read, must do."""
        labels, files = path / Path(LABELS.file).name, _pictures(path / "jpg")
        if files and labels.is_file() and len(files) < (count := len(_labels(labels))):
            raise ValueError(
                f"{path / 'jpg'} holds {len(files)} of the {count} pictures that {labels.name} has kinds of: delete "
                "the folder, so that the archive is unpacked again, or put the others there."
            )


FILES = Flowers((IMAGES, LABELS))


def flowers102(root: Path | None = None, *, size: int = 64) -> Dataset:
    """Oxford Flowers 102 from its official archive, or from that unpacked: photographs of 102 kinds of flowers.

    The factors behind them are unknown; the kind is kept as a label, which no unsupervised loss reads.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        size: Side of the pictures in pixels, cut square about the centre.
    """
    if size < 1:
        raise ValueError(f"Pictures need at least one pixel a side; got size={size}.")
    folder = data_root(root) / "flowers102" / "jpg"
    if not folder.is_dir():
        _unpack(IMAGES.locate(root), folder)
    files = _pictures(folder)
    if not files:
        raise FileNotFoundError(
            f"{folder} holds no image_00001.jpg and so on: put the archive's pictures there."
        )
    images = read_images(files, (3, size, size), "reading flowers102")
    labels = LABELS.path(root)
    if not labels.is_file():  # pictures alone are enough to learn from
        return Dataset(images, name="flowers102")
    return Dataset(
        images,
        name="flowers102",
        space=FactorSpace({"kind": CLASSES}),
        combinations=torch.from_numpy(_kinds(labels, files)),
        label="kind",
    )


def _pictures(folder: Path) -> list[Path]:
    return sorted(folder.glob("image_*.jpg"))


def _labels(path: Path) -> np.ndarray:
    """The kinds in the file, from 0 on; it has them from 1, in the order of the pictures' numbers."""
    from scipy.io import loadmat

    with readable(path):
        return np.asarray(loadmat(path)["labels"]).ravel().astype(np.int64) - 1


def _kinds(path: Path, files: list[Path]) -> np.ndarray:
    """The kind of each picture."""
    kinds = _labels(path)
    with readable(path):
        numbers = np.array([int(file.stem.removeprefix("image_")) - 1 for file in files])
        if kinds.min() < 0 or kinds.max() >= CLASSES or numbers.max() >= len(kinds):
            raise ValueError(f"it should have a kind from 1 to {CLASSES} for each picture")
        return kinds[numbers]


def _unpack(archive: Path, folder: Path) -> None:
    """The pictures of the archive beside it, all of them or none; nothing else of it is written."""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)  # of an unpacking that broke off
    with readable(archive), tarfile.open(archive) as stored:
        pictures = [
            member
            for member in stored
            if member.isfile() and re.fullmatch(r"jpg/image_\d{5}\.jpg", member.name)
        ]
        contents = {Path(member.name).name: stored.extractfile(member) for member in pictures}
        part.mkdir(parents=True)
        for name, content in contents.items():
            assert content is not None
            (part / name).write_bytes(content.read())
    part.rename(folder)
