"""Splitting the values of a factor: one half for training, the other for testing invariance.

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Sec. 4.1, holds out half of the object
colors of 3D Shapes and MPI3D without naming them: here a seed chooses them.
"""

from typing import Literal, get_args

import torch
from torch import Generator

from unbraid.data.factors import FactorSpace
from unbraid.seeds import derive_seed

Split = Literal["all", "train", "test"]


def split_factor_values(space: FactorSpace, factor: str, split: str, seed: int) -> FactorSpace:
    """The space with all values of a factor, or with the half used for training or testing."""
    if split not in get_args(Split):
        raise ValueError(f"The splits are {', '.join(get_args(Split))}; got split={split!r}.")
    if split == "all":
        return space
    size = space.sizes[space.column(factor)]
    order = torch.randperm(size, generator=Generator().manual_seed(derive_seed(seed, "halves"))).tolist()
    return space.only(**{factor: order[: size // 2] if split == "train" else order[size // 2 :]})


def split_name(name: str, split: str) -> str:
    """The name of a dataset with its split."""
    return name if split == "all" else f"{name}-{split}"
