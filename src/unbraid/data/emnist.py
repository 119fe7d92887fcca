"""EMNIST's digits. Cohen et al., 2017, EMNIST: an Extension of MNIST to Handwritten Letters, arXiv:1702.05373."""

import zipfile
from pathlib import Path

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist import SIDE, Split, idx_length, parse_idx
from unbraid.data.remote_file import RemoteFile
from unbraid.data.unpack import explain_read_errors

SOURCE = RemoteFile(
    urls=("https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",),
    file="emnist/gzip.zip",
    hashes=(
        "sha256:fb9bb67e33772a9cc0b895e4ecf36d2cf35be8b709693c3564cea2a019fcda8e",
    ),  # of TensorFlow Datasets
    size=561_753_746,
)
COUNTS = {
    "train": 240_000,
    "test": 40_000,
}  # of the official file; a smaller file of its format is read as it is


def emnist(root: Path | None = None, *, split: Split = "train") -> Dataset:
    """Handwritten digits in gray, 28×28: 240,000 for training and 40,000 for testing.

    The official file stores each image transposed; here the digits are upright.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        split: The training digits (`train`) or the test digits (`test`).
    """
    if split not in COUNTS:
        raise ValueError(f"EMNIST has the splits {' and '.join(COUNTS)}; got split={split!r}.")
    path, count = SOURCE.require(root), COUNTS[split]
    with explain_read_errors(path), zipfile.ZipFile(path) as archive:
        prefix = f"gzip/emnist-digits-{split}"
        stored = [
            _member(archive, f"{prefix}-{name}-ubyte.gz", size)
            for name, size in (("images-idx3", count * SIDE**2), ("labels-idx1", count))
        ]
        number = min(count, idx_length(stored[1]))
        images, labels = parse_idx(stored[0], (number, SIDE, SIDE)), parse_idx(stored[1], (number,))
    return Dataset(
        images.mT.contiguous()[:, None],
        name="emnist" if split == "train" else f"emnist-{split}",
        factor_space=FactorSpace({"digit": 10}),
        combinations=labels.long(),
        label="digit",
    )


def _member(archive: zipfile.ZipFile, name: str, size: int) -> bytes:
    """A file in the archive, which is compressed and holds so many bytes; raises if it announces far more."""
    if (announced := archive.getinfo(name).file_size) > 2 * size + 1_000:
        raise ValueError(f"{name} has {announced} bytes for an array of {size}")
    return archive.read(name)
