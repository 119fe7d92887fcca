"""3D Shapes: every combination of six factors as a 64×64 image of a room. Burgess and Kim, 2018."""

from pathlib import Path

import numpy as np

from unbraid.data.dataset import Dataset
from unbraid.data.factor_split import Split, split_factor_values, split_name
from unbraid.data.factors import FactorSpace
from unbraid.data.remote_file import RemoteFile
from unbraid.data.rooms import HUES
from unbraid.data.unpack import map_hdf5, read_hdf5

SPACE = FactorSpace(
    {"floor_hue": 10, "wall_hue": 10, "object_hue": 10, "scale": 8, "shape": 4, "orientation": 15}
)
SOURCE = RemoteFile(
    urls=("https://storage.googleapis.com/3d-shapes/3dshapes.h5",),
    file="shapes3d/3dshapes.h5",
    hashes=(
        "sha256:0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785",
    ),  # of TensorFlow Datasets
    size=267_573_662,
)


def shapes3d(root: Path | None = None, *, split: Split = "all", color_seed: int = 0) -> Dataset:
    """A cube, cylinder, sphere or capsule in a colored room, from the official file of 3D Shapes.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        split: `all`, or one half of the object hues (`train` or `test`), to test invariance.
        color_seed: Random seed for the choice of the two halves of the object hues.
    """
    return read_shapes3d(SOURCE.require(root), SPACE, split, color_seed)


def read_shapes3d(path: Path, space: FactorSpace, split: Split = "all", color_seed: int = 0) -> Dataset:
    """A file in 3D Shapes' format, with the images in the order of the space's combinations."""
    images = map_hdf5(path, "images", (space.num_combinations, 64, 64, 3))
    labels = read_hdf5(path, "labels")
    grid = np.indices(space.sizes).reshape(len(space.sizes), -1).T
    # Labels are hues, sizes and degrees; a factor value is the rank of its label.
    ordered = labels.shape == grid.shape and all(
        np.array_equal(np.unique(column.round(6), return_inverse=True)[1], numbers)
        for column, numbers in zip(labels.T, grid.T, strict=True)
    )
    if not ordered:
        raise ValueError(
            f"{path} has its images in another order than {', '.join(space.names)} with the last running "
            "fastest: put the official file there."
        )
    return Dataset(
        images.permute(0, 3, 1, 2),
        name=split_name("shapes3d", split),
        factor_space=split_factor_values(space, "object_hue", split, color_seed),
        label="shape",
        nuisances=("object_hue",),
        unordered=HUES,
        license="Apache 2.0",
    )
