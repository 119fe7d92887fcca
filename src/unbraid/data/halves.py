"""Halves of a factor's values: one half trains and the other tests, as invariance is measured.

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Sec. 4.1, holds out half of the object
colours of 3D Shapes and MPI3D and does not say which: here a seed says it.
"""

from typing import Literal, get_args

import torch
from torch import Generator

from unbraid.data.factors import FactorSpace
from unbraid.seeds import derive

Part = Literal["all", "train", "test"]


def half(space: FactorSpace, factor: str, part: str, seed: int) -> FactorSpace:
    """The space with all values of a factor, or with the half of them that trains or tests."""
    if part not in get_args(Part):
        raise ValueError(f"The parts are {', '.join(get_args(Part))}; got part={part!r}.")
    if part == "all":
        return space
    size = space.sizes[space.column(factor)]
    order = torch.randperm(size, generator=Generator().manual_seed(derive(seed, "halves"))).tolist()
    return space.only(**{factor: order[: size // 2] if part == "train" else order[size // 2 :]})


def named(name: str, part: str) -> str:
    """What the part of a dataset is called."""
    return name if part == "all" else f"{name}-{part}"
