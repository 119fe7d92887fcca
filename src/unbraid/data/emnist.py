"""EMNIST's digits. Cohen et al., 2017, EMNIST: an Extension of MNIST to Handwritten Letters, arXiv:1702.05373."""

import zipfile
from pathlib import Path

from unbraid.data.dataset import Dataset
from unbraid.data.download import RemoteFile
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist import SIDE, Split, parse_idx
from unbraid.data.unpack import explain_read_errors

SOURCE = RemoteFile(
    url="https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
    sha256=None,
    file="emnist/gzip.zip",
)
COUNTS = {"train": 240_000, "test": 40_000}


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
        images = parse_idx(archive.read(f"{prefix}-images-idx3-ubyte.gz"), (count, SIDE, SIDE))
        labels = parse_idx(archive.read(f"{prefix}-labels-idx1-ubyte.gz"), (count,))
    return Dataset(
        images.mT.contiguous()[:, None],
        name="emnist" if split == "train" else f"emnist-{split}",
        factor_space=FactorSpace({"digit": 10}),
        combinations=labels.long(),
        label="digit",
    )
