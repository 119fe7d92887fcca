"""dSprites: every combination of five factors as a binary 64×64 image. Matthey et al., 2017."""

from pathlib import Path

import numpy as np

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.remote_file import RemoteFile
from unbraid.data.unpack import map_npz, read_npz

SPACE = FactorSpace({"shape": 3, "scale": 6, "orientation": 40, "pos_x": 32, "pos_y": 32})
FILE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
SOURCE = RemoteFile(
    urls=(f"https://github.com/google-deepmind/dsprites-dataset/raw/master/{FILE}",),
    hashes=("sha256:857dc001287e8efa226e0025fac6b29e5745c621b380b0d3363e4e33f4e28fa2",),
    file=f"dsprites/{FILE}",
)


def dsprites(root: Path | None = None) -> Dataset:
    """White squares, ellipses and hearts on black, from the official file of dSprites.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
    """
    return read_dsprites(SOURCE.require(root), SPACE)


def read_dsprites(path: Path, space: FactorSpace) -> Dataset:
    """A file in dSprites' format, with the images in the order of the space's combinations.

    The stored first factor, color, has one value and is left out.
    """
    images = map_npz(path, "imgs", (space.num_combinations, 64, 64))
    classes = read_npz(path, "latents_classes")
    grid = np.indices(space.sizes).reshape(len(space.sizes), -1).T
    if classes.shape != (len(grid), 6) or not np.array_equal(classes[:, 1:], grid):
        raise ValueError(
            f"{path} has its images in another order than {', '.join(space.names)} with the last running "
            "fastest: put the official file there."
        )
    return Dataset(
        images[:, None],
        name="dsprites",
        max_value=1,
        factor_space=space,
        label="shape",
        license="Apache 2.0",
    )
