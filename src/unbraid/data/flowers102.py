"""Oxford Flowers 102: photographs of flowers. Nilsback and Zisserman, 2008, Automated Flower Classification over a
Large Number of Classes."""

import math
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.image_folder import read_images
from unbraid.data.remote_file import RemoteFile, RemoteFiles
from unbraid.data.root import data_root
from unbraid.data.unpack import explain_read_errors
from unbraid.files import locked

ADDRESS = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102"
# The hashes are those of TensorFlow Datasets.
IMAGES = RemoteFile(
    urls=(f"{ADDRESS}/102flowers.tgz",),
    file="flowers102/102flowers.tgz",
    hashes=("sha256:2d01ecc807db462958cfe3d92f57a8c252b4abd240eb955770201e45f783b246",),
    size=344_862_509,
)
LABELS = RemoteFile(
    urls=(f"{ADDRESS}/imagelabels.mat",),
    file="flowers102/imagelabels.mat",
    hashes=("sha256:4903e94206bac23bf772aadf06451916df56b58fc483a62db32a97b82656651d",),
    size=502,
)
CLASSES = 102
MAX_LABELS = 100_000  # there are 8,189
UNPACK_TIMEOUT = 600.0  # seconds
MAX_EXPANSION = 4  # JPEG images hardly shrink in an archive


class Flowers(RemoteFiles):
    """The official files; the archive is not needed if its image folder is present."""

    def require(self, root: Path | str | None = None) -> Path:
        return self.path(root) if (self.path(root) / "jpg").is_dir() else super().require(root)

    def verify(self, path: Path) -> str:
        """What shows that the files are complete; for images that were unpacked, their number."""
        if not (path / "jpg").is_dir():
            return super().verify(path)
        labels, files = path / Path(LABELS.file).name, _image_paths(path / "jpg")
        if files and labels.is_file() and len(files) < (count := len(_labels(labels))):
            raise ValueError(
                f"{path / 'jpg'} holds {len(files)} of the {count} images that {labels.name} labels: delete the "
                "folder, so that the archive is unpacked again, or add the missing images."
            )
        return "the number of the images, because they are unpacked"


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
    from scipy.io import loadmat, whosmat

    with explain_read_errors(path):
        sizes = {name: shape for name, shape, _ in whosmat(path)}
        if math.prod(sizes.get("labels", ())) > MAX_LABELS:
            raise ValueError(f"its labels have the shape {sizes['labels']}")
        return np.asarray(loadmat(path, variable_names=["labels"])["labels"]).ravel().astype(np.int64) - 1


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
    message = (
        f"Another process is unpacking {archive}. Wait until it has finished, and run the command again."
    )
    with locked(folder.with_name(f".{folder.name}.lock"), message=message, timeout=UNPACK_TIMEOUT):
        if not folder.is_dir():
            _unpack_alone(archive, folder)


def _unpack_alone(archive: Path, folder: Path) -> None:
    partial = folder.with_name(folder.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)  # left by an interrupted unpacking
    partial.mkdir(parents=True)
    for name, content in _packed_images(archive):
        (partial / name).write_bytes(content)
    partial.rename(folder)


def _packed_images(archive: Path) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the images in the archive."""
    with explain_read_errors(archive), tarfile.open(archive) as stored:
        members = [
            member
            for member in stored
            if member.isfile() and re.fullmatch(r"jpg/image_\d{5}\.jpg", member.name)
        ]
        if (
            total := sum(member.size for member in members)
        ) > MAX_EXPANSION * archive.stat().st_size + 100_000:
            raise ValueError(f"its images have {total} bytes, far more than the archive")
        for member in members:
            content = stored.extractfile(member)
            assert content is not None
            yield Path(member.name).name, content.read()
