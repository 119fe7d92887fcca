"""Grassy-MNIST: written digits over grass, against grass alone. Abid et al., 2018; mixed in two ways as in Towards
Principled Objectives for Contrastive Disentanglement, 2020, App. A.1."""

from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.grass import Part, grass_folder, grass_patches
from unbraid.data.mnist import SIDE, Digits, read_digits, which
from unbraid.seeds import derive

Mix = Literal["linear", "nonlinear"]
PER_DIGIT = 4986  # App. A.1
HELD_OUT = 13  # of so many training digits one validates: enough of MNIST's 5,421 fives are left to train on


def grassy_mnist(
    root: Path | None = None,
    *,
    part: Part = "train",
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
        part: `train`, twelve of every thirteen training digits at most; `validation`, the others; or `test`, the test
            digits. Each part has grass of other pictures.
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
    y = grass_patches(grass, patches, SIDE, root=root, part=part, seed=grass_seed)
    images, labels = read_digits(root, part="test" if part == "test" else "train", digits=digits)
    generator = Generator().manual_seed(derive(grass_seed, "digits" if part == "train" else f"{part} digits"))
    chosen = _chosen(labels, part, per_digit, grass_seed)
    under = torch.randint(len(y), (len(chosen),), generator=generator)
    x = torch.cat(  # some at a time: in floats they take four times the room
        [
            mixed(y[grown] / 255, images[digit][:, None] / 255, mix, rho, threshold).mul(255).round().byte()
            for digit, grown in zip(chosen.split(5000), under.split(5000), strict=True)
        ]
    )
    kind = "grassy-mnist" if which(digits, root) == "mnist" else "grassy-digits"
    painted = grass_folder(grass, root) is None
    said = {"nonlinear": mix == "nonlinear", "painted": painted, part: part != "train"}
    name = "-".join([kind, *(word for word, so in said.items() if so)])
    return Dataset(
        x,
        name=name,
        space=FactorSpace({"digit": 10}),
        combinations=labels[chosen],
        label="digit",
        background=Dataset(y, name="painted-grass" if painted else "grass"),
    )


def _chosen(labels: Int[Tensor, " n"], part: Part, per_digit: int, seed: int) -> Int[Tensor, " m"]:
    """As many of each digit, in an order that the seed decides; those that validate are the last in it."""
    order = torch.randperm(len(labels), generator=Generator().manual_seed(derive(seed, "digits")))
    each = [order[labels[order] == digit] for digit in range(10)]
    fewest = min(map(len, each))
    kept = 0 if part == "test" else fewest // HELD_OUT
    if part == "validation":
        return torch.cat([rows[-min(per_digit, kept) :] for rows in each])
    return torch.cat([rows[: min(per_digit, fewest - kept)] for rows in each])


def mixed(
    y: Float[Tensor, "n c h w"], t: Float[Tensor, "n 1 h w"], mix: Mix, rho: float, threshold: float
) -> Float[Tensor, "n c h w"]:
    """Grass y with digits t laid over it: Eq. 10, or Eq. 11."""
    x = rho * y + (1 - rho) * t
    return x if mix == "linear" else x * (y > threshold)
