"""EMNIST's digits. Cohen et al., 2017, EMNIST: an Extension of MNIST to Handwritten Letters, arXiv:1702.05373."""

import zipfile
from pathlib import Path

from unbraid.data.dataset import Dataset
from unbraid.data.download import Source
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist import SIDE, Part, as_idx
from unbraid.data.unpack import readable

SOURCE = Source(
    url="https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
    sha256=None,
    file="emnist/gzip.zip",
)
COUNTS = {"train": 240_000, "test": 40_000}


def emnist(root: Path | None = None, *, part: Part = "train") -> Dataset:
    """Written digits in grey, 28×28: 240,000 to train on and 40,000 to test.

    The file stores each picture with rows and columns exchanged; here they stand upright.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        part: The training digits or the test digits.
    """
    if part not in COUNTS:
        raise ValueError(f"EMNIST has the parts {' and '.join(COUNTS)}; got part={part!r}.")
    path, count = SOURCE.locate(root), COUNTS[part]
    with readable(path), zipfile.ZipFile(path) as archive:
        prefix = f"gzip/emnist-digits-{part}"
        images = as_idx(archive.read(f"{prefix}-images-idx3-ubyte.gz"), (count, SIDE, SIDE))
        labels = as_idx(archive.read(f"{prefix}-labels-idx1-ubyte.gz"), (count,))
    return Dataset(
        images.mT.contiguous()[:, None],
        name="emnist" if part == "train" else f"emnist-{part}",
        space=FactorSpace({"digit": 10}),
        combinations=labels.long(),
        label="digit",
    )
