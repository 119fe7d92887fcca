"""dSprites: every combination of five factors as a binary 64×64 picture. Matthey et al., 2017."""

from pathlib import Path

import numpy as np

from unbraid.data.dataset import Dataset
from unbraid.data.download import Source
from unbraid.data.factors import FactorSpace
from unbraid.data.unpack import map_npz, read_npz

SPACE = FactorSpace({"shape": 3, "scale": 6, "orientation": 40, "pos_x": 32, "pos_y": 32})
FILE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
SOURCE = Source(
    url=f"https://github.com/google-deepmind/dsprites-dataset/raw/master/{FILE}",
    sha256="857dc001287e8efa226e0025fac6b29e5745c621b380b0d3363e4e33f4e28fa2",
    file=f"dsprites/{FILE}",
)


def dsprites(root: Path | None = None) -> Dataset:
    """dSprites from its official file: white squares, ellipses and hearts on black.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
    """
    return read_dsprites(SOURCE.locate(root), SPACE)


def read_dsprites(path: Path, space: FactorSpace) -> Dataset:
    """A file in dSprites' format whose pictures run through the combinations of the space in order.

    The stored first factor, colour, takes one value and is left out.
    """
    images = map_npz(path, "imgs", (space.combinations, 64, 64))
    classes = read_npz(path, "latents_classes")
    grid = np.indices(space.sizes).reshape(len(space.sizes), -1).T
    if classes.shape != (len(grid), 6) or not np.array_equal(classes[:, 1:], grid):
        raise ValueError(
            f"{path} has its pictures in another order than {', '.join(space.names)} with the last running "
            "fastest: put the official file there."
        )
    return Dataset(images[:, None], name="dsprites", white=1, space=space, label="shape")
