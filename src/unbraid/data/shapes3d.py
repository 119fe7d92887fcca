"""3D Shapes: every combination of six factors as a 64×64 picture of a room. Burgess and Kim, 2018."""

from pathlib import Path

import numpy as np

from unbraid.data.dataset import Dataset
from unbraid.data.download import Source
from unbraid.data.factors import FactorSpace
from unbraid.data.halves import Part, half, named
from unbraid.data.unpack import map_hdf5, read_hdf5

SPACE = FactorSpace(
    {"floor_hue": 10, "wall_hue": 10, "object_hue": 10, "scale": 8, "shape": 4, "orientation": 15}
)
SOURCE = Source(
    url="https://storage.googleapis.com/3d-shapes/3dshapes.h5", sha256=None, file="shapes3d/3dshapes.h5"
)


def shapes3d(root: Path | None = None, *, part: Part = "all", colour_seed: int = 0) -> Dataset:
    """3D Shapes from its official file: a cube, cylinder, sphere or capsule in a coloured room.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        part: `all` of it, or for invariance the half of the object's hues that trains or the other, that tests.
        colour_seed: Which half is which.
    """
    return read_shapes3d(SOURCE.locate(root), SPACE, part, colour_seed)


def read_shapes3d(path: Path, space: FactorSpace, part: Part = "all", colour_seed: int = 0) -> Dataset:
    """A file in 3D Shapes' format whose pictures run through the combinations of the space in order."""
    images = map_hdf5(path, "images", (space.combinations, 64, 64, 3))
    labels = read_hdf5(path, "labels")
    grid = np.indices(space.sizes).reshape(len(space.sizes), -1).T
    # Labels are hues, sizes and degrees: their rank among a factor's values is the value's number.
    ordered = labels.shape == grid.shape and all(
        np.array_equal(np.unique(column.round(6), return_inverse=True)[1], numbers)
        for column, numbers in zip(labels.T, grid.T, strict=True)
    )
    if not ordered:
        raise ValueError(
            f"{path} has its pictures in another order than {', '.join(space.names)} with the last running "
            "fastest: put the official file there."
        )
    return Dataset(
        images.permute(0, 3, 1, 2),
        name=named("shapes3d", part),
        space=half(space, "object_hue", part, colour_seed),
        label="shape",
        nuisances=("object_hue",),
    )
