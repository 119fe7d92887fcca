"""MPI3D: a robot arm that holds an object, with seven factors. Gondal et al., 2019, arXiv:1906.03292."""

from pathlib import Path
from typing import Literal, get_args

from unbraid.data.dataset import Dataset
from unbraid.data.download import RemoteFile
from unbraid.data.factor_split import Split, split_factor_values, split_name
from unbraid.data.factors import FactorSpace
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
    variant: RemoteFile(
        url=f"https://storage.googleapis.com/disentanglement_dataset/Final_Dataset/mpi3d_{variant}.npz",
        sha256=None,
        file=f"mpi3d/mpi3d_{variant}.npz",
        variant=variant,
    )
    for variant in get_args(Variant)
}


def mpi3d(
    root: Path | None = None, *, variant: Variant = "real", split: Split = "all", color_seed: int = 0
) -> Dataset:
    """A robot arm that moves an object in front of a camera, from the official files of MPI3D.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        variant: Photographs (`real`), or renderings (`realistic` or `toy`).
        split: `all`, or one half of the object colors (`train` or `test`), to test invariance.
        color_seed: Random seed for the choice of the two halves of the object colors.
    """
    return read_mpi3d(source(variant).require(root), SPACE, f"mpi3d-{variant}", split, color_seed)


def source(variant: str = "real", **_: object) -> RemoteFile:
    """The official file of a variant."""
    if variant not in SOURCES:
        raise ValueError(f"variant must be {', '.join(SOURCES)}; got variant={variant!r}.")
    return SOURCES[variant]


def read_mpi3d(
    path: Path, space: FactorSpace, name: str, split: Split = "all", color_seed: int = 0
) -> Dataset:
    """The dataset in a file of MPI3D's format: one image per combination of factor values, in the order of `space`."""
    images = map_npz(path, "images", (space.num_combinations, 64, 64, 3))
    return Dataset(
        images.permute(0, 3, 1, 2),
        name=split_name(name, split),
        factor_space=split_factor_values(space, "object_color", split, color_seed),
        label="object_shape",
        nuisances=("object_color",),
        license="CC BY 4.0",
    )
