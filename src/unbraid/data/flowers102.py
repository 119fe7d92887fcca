"""Oxford Flowers 102: photographs of flowers. Nilsback and Zisserman, 2008, Automated Flower Classification over a
Large Number of Classes."""

import re
import shutil
import tarfile
from pathlib import Path

import numpy as np
import torch

from unbraid.data.dataset import Dataset
from unbraid.data.download import RemoteFile, RemoteFiles
from unbraid.data.factors import FactorSpace
from unbraid.data.image_folder import read_images
from unbraid.data.root import data_root
from unbraid.data.unpack import explain_read_errors

ADDRESS = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102"
IMAGES = RemoteFile(url=f"{ADDRESS}/102flowers.tgz", sha256=None, file="flowers102/102flowers.tgz")
LABELS = RemoteFile(url=f"{ADDRESS}/imagelabels.mat", sha256=None, file="flowers102/imagelabels.mat")
CLASSES = 102


class Flowers(RemoteFiles):
    """The official files; the archive is not needed if its image folder is present."""

    def require(self, root: Path | str | None = None) -> Path:
        return self.path(root) if (self.path(root) / "jpg").is_dir() else super().require(root)

    def verify(self, path: Path) -> None:
        """Raises if images are missing; there are no published hashes."""
        labels, files = path / Path(LABELS.file).name, _image_paths(path / "jpg")
        if files and labels.is_file() and len(files) < (count := len(_labels(labels))):
            raise ValueError(
                f"{path / 'jpg'} holds {len(files)} of the {count} images that {labels.name} labels: delete the "
                "folder, so that the archive is unpacked again, or add the missing images."
            )


FILES = Flowers((IMAGES, LABELS))


def flowers102(root: Path | None = None, *, image_size: int = 64) -> Dataset:
    """Photographs of 102 kinds of flowers, from the official archive of Oxford Flowers 102, packed or unpacked.

    Their factors are unknown; the kind is the label, which unsupervised losses do not use.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        image_size: Side of the images in pixels; they are center-cropped to squares.
    """
    if image_size < 1:
        raise ValueError(f"Images need a side of at least 1 pixel; got image_size={image_size}.")
    folder = data_root(root) / "flowers102" / "jpg"
    if not folder.is_dir():
        _unpack(IMAGES.require(root), folder)
    files = _image_paths(folder)
    if not files:
        raise FileNotFoundError(
            f"{folder} holds no image_00001.jpg and so on: put the archive's images there."
        )
    images = read_images(files, (3, image_size, image_size), "reading flowers102")
    labels = LABELS.path(root)
    if not labels.is_file():  # labels are optional
        return Dataset(images, name="flowers102")
    return Dataset(
        images,
        name="flowers102",
        factor_space=FactorSpace({"kind": CLASSES}),
        combinations=torch.from_numpy(_kinds(labels, files)),
        label="kind",
    )


def _image_paths(folder: Path) -> list[Path]:
    return sorted(folder.glob("image_*.jpg"))


def _labels(path: Path) -> np.ndarray:
    """The kinds in the order of the image numbers, from 0; the file numbers them from 1."""
    from scipy.io import loadmat

    with explain_read_errors(path):
        return np.asarray(loadmat(path)["labels"]).ravel().astype(np.int64) - 1


def _kinds(path: Path, files: list[Path]) -> np.ndarray:
    """The kind of each image."""
    kinds = _labels(path)
    with explain_read_errors(path):
        numbers = np.array([int(file.stem.removeprefix("image_")) - 1 for file in files])
        if kinds.min() < 0 or kinds.max() >= CLASSES or numbers.max() >= len(kinds):
            raise ValueError(f"it should have a kind from 1 to {CLASSES} for each image")
        return kinds[numbers]


def _unpack(archive: Path, folder: Path) -> None:
    """Unpacks the images of the archive next to it, all or none, and nothing else."""
    partial = folder.with_name(folder.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)  # left by an interrupted unpacking
    with explain_read_errors(archive), tarfile.open(archive) as stored:
        members = [
            member
            for member in stored
            if member.isfile() and re.fullmatch(r"jpg/image_\d{5}\.jpg", member.name)
        ]
        contents = {Path(member.name).name: stored.extractfile(member) for member in members}
        partial.mkdir(parents=True)
        for name, content in contents.items():
            assert content is not None
            (partial / name).write_bytes(content.read())
    partial.rename(folder)
