"""MPI3D: a robot arm that holds an object, under seven factors. Gondal et al., 2019, arXiv:1906.03292."""

from pathlib import Path
from typing import Literal, get_args

from unbraid.data.dataset import Dataset
from unbraid.data.download import Source
from unbraid.data.factors import FactorSpace
from unbraid.data.halves import Part, half, named
from unbraid.data.unpack import map_npz

Variant = Literal["real", "realistic", "toy"]
SPACE = FactorSpace(
    {
        "object_color": 6,
        "object_shape": 6,
        "object_size": 2,
        "camera_height": 3,
        "background_color": 3,
        "horizontal_axis": 40,
        "vertical_axis": 40,
    }
)
SOURCES = {
    variant: Source(
        url=f"https://storage.googleapis.com/disentanglement_dataset/Final_Dataset/mpi3d_{variant}.npz",
        sha256=None,
        file=f"mpi3d/mpi3d_{variant}.npz",
        variant=variant,
    )
    for variant in get_args(Variant)
}


def mpi3d(
    root: Path | None = None, *, variant: Variant = "real", part: Part = "all", colour_seed: int = 0
) -> Dataset:
    """MPI3D from its official files: a robot arm that moves an object before a camera.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        variant: Photographs (`real`), or pictures rendered realistically or as toys.
        part: `all` of it, or for invariance the half of the object's colours that trains or the other, that tests.
        colour_seed: Which half is which.
    """
    return read_mpi3d(source(variant).locate(root), SPACE, f"mpi3d-{variant}", part, colour_seed)


def source(variant: str = "real", **_: object) -> Source:
    """The official file of a variant."""
    if variant not in SOURCES:
        raise ValueError(f"MPI3D comes as {', '.join(SOURCES)}; got variant={variant!r}.")
    return SOURCES[variant]


def read_mpi3d(
    path: Path, space: FactorSpace, name: str, part: Part = "all", colour_seed: int = 0
) -> Dataset:
    """A file in MPI3D's format; it holds pictures alone, in the order of the space's combinations."""
    images = map_npz(path, "images", (space.combinations, 64, 64, 3))
    return Dataset(
        images.permute(0, 3, 1, 2),
        name=named(name, part),
        space=half(space, "object_color", part, colour_seed),
        label="object_shape",
        nuisances=("object_color",),
    )
