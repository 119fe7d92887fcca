"""MPI3D: a robot arm that holds an object, with seven factors. Gondal et al., 2019, arXiv:1906.03292."""

from pathlib import Path
from typing import Literal, get_args

import numpy as np

from unbraid.data.dataset import Dataset
from unbraid.data.factor_split import Split, split_factor_values, split_name
from unbraid.data.factors import FactorSpace
from unbraid.data.remote_file import RemoteFile
from unbraid.data.unpack import map_npz, read_first

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
# The hashes are those of the files of the first address, which answers no more since 2023 (as the library disent lists
# them). Whether the files of today's address are the same, byte by byte, is unknown, so files with another hash are
# accepted after a look at their content. A second address had damaged images in `real` from May 2024 to April 2025.
HASHES = {
    "real": "md5:0f33f609918fb5c97996692f91129802",
    "realistic": "md5:59a6225b88b635365f70c91b3e52f70f",
    "toy": "md5:55889cb7c7dfc655d6e0277beee88868",
}
SMOOTHNESS = (
    0.5  # neighboring pixels differ by less than this part of what pixels of any two positions differ by
)


def check_images(path: Path) -> None:
    """Raises unless a file has MPI3D's array, and its first images look like photographs or renderings."""
    shape = (SPACE.num_combinations, 64, 64, 3)
    first = read_first(path, "images", shape, rows=SPACE.sizes[-1] * SPACE.sizes[-2]).astype(np.int16)
    neighbors = np.abs(np.diff(first, axis=2)).mean()
    shuffled = np.random.default_rng(0).permutation(first.reshape(len(first), -1, 3), axis=1)
    anywhere = np.abs(np.diff(shuffled, axis=1)).mean()
    if not neighbors < SMOOTHNESS * anywhere:
        raise ValueError(
            "its images look like noise; a copy that was published from May 2024 to April 2025 was damaged"
            if anywhere
            else "its images are blank"
        )


SOURCES = {
    variant: RemoteFile(
        urls=(f"https://huggingface.co/datasets/waleedgondal/mpi3d/resolve/main/mpi3d_{variant}.npz",),
        file=f"mpi3d/mpi3d_{variant}.npz",
        hashes=(HASHES[variant],),
        check=check_images,
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
        unordered=("object_color", "background_color"),
        license="CC BY 4.0",
    )
