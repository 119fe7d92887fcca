"""Grassy-MNIST: written digits over grass, against grass alone. Abid et al., 2018; mixed in two ways as in Towards
Principled Objectives for Contrastive Disentanglement, 2020, App. A.1."""

from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.grass import grass_folder, grass_patches
from unbraid.data.mnist import SIDE, Digits, read_digits, which
from unbraid.seeds import derive

Mix = Literal["linear", "nonlinear"]
PER_DIGIT = 4986  # App. A.1


def grassy_mnist(
    root: Path | None = None,
    *,
    mix: Mix = "linear",
    rho: float = 0.5,
    threshold: float = 0.3,
    per_digit: int = PER_DIGIT,
    patches: int = PER_DIGIT,
    digits: Digits = "auto",
    grass: str = "auto",
    grass_seed: int = 0,
) -> Dataset:
    """Written digits over patches of grass, in colour, with grass alone as the background.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        mix: `linear`: x = ρ y + (1 - ρ) t of grass y and digit t. `nonlinear`: the same where a channel of the grass
            is brighter than the threshold, and black elsewhere.
        rho: The share ρ of the grass.
        threshold: Below it, in the nonlinear mix, a pixel's channel is black.
        per_digit: How many of each digit; as many as the rarest digit has, where that is fewer.
        patches: How many patches of grass; digits are laid over patches drawn from these.
        digits: `mnist`, `bundled`, or `auto`: mnist where its files are, bundled otherwise.
        grass: `photographs` for the folder `grass` of the data root, a folder of one's own, `painted`, or `auto`:
            photographs where they are, painted otherwise.
        grass_seed: Of the patches, and of which digits are laid over which of them.
    """
    if not (0 <= rho <= 1 and 0 <= threshold <= 1 and per_digit >= 1):
        raise ValueError(
            f"rho and threshold lie from 0 to 1, and per_digit is at least 1; got {rho}, {threshold}, {per_digit}."
        )
    y = grass_patches(grass, patches, SIDE, root=root, seed=grass_seed)
    images, labels = read_digits(root, digits=digits)
    generator = Generator().manual_seed(derive(grass_seed, "digits"))
    count = min(per_digit, int(labels.bincount(minlength=10).min()))
    order = torch.randperm(len(labels), generator=generator)
    chosen = torch.cat([order[labels[order] == digit][:count] for digit in range(10)])
    under = torch.randint(len(y), (len(chosen),), generator=generator)
    x = torch.cat(  # some at a time: in floats they take four times the room
        [
            mixed(y[grown] / 255, images[digit][:, None] / 255, mix, rho, threshold).mul(255).round().byte()
            for digit, grown in zip(chosen.split(5000), under.split(5000), strict=True)
        ]
    )
    kind = "grassy-mnist" if which(digits, root) == "mnist" else "grassy-digits"
    painted = grass_folder(grass, root) is None
    name = "-".join([kind, *(["nonlinear"] if mix == "nonlinear" else []), *(["painted"] if painted else [])])
    return Dataset(
        x,
        name=name,
        space=FactorSpace({"digit": 10}),
        combinations=labels[chosen],
        label="digit",
        background=Dataset(y, name="painted-grass" if painted else "grass"),
    )


def mixed(
    y: Float[Tensor, "n c h w"], t: Float[Tensor, "n 1 h w"], mix: Mix, rho: float, threshold: float
) -> Float[Tensor, "n c h w"]:
    """Grass y with digits t laid over it: Eq. 10, or Eq. 11."""
    x = rho * y + (1 - rho) * t
    return x if mix == "linear" else x * (y > threshold)
