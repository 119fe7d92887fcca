"""Grassy-MNIST: digits over grass, with grass alone as background. Abid et al., 2018; mixed in two ways as in Towards
Principled Objectives for Contrastive Disentanglement, 2020, App. A.1."""

from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.grass import Split, grass_patches, resolve_grass
from unbraid.data.mnist import SIDE, Digits, digits_license, read_digits, resolve_source
from unbraid.data.renderer import GENERATED
from unbraid.seeds import derive_seed

Mix = Literal["linear", "nonlinear"]
IMAGES_PER_DIGIT = 4986  # App. A.1
# One of 13 training digits is for validation, so that at least 4,986 of MNIST's fives remain for training.
VALIDATION_EVERY = 13


def grassy_mnist(
    root: Path | None = None,
    *,
    split: Split = "train",
    mix: Mix = "linear",
    rho: float = 0.5,
    threshold: float = 0.3,
    per_digit: int = IMAGES_PER_DIGIT,
    patches: int = IMAGES_PER_DIGIT,
    digits: Digits = "auto",
    grass: str = "auto",
    grass_seed: int = 0,
) -> Dataset:
    """Handwritten digits over patches of grass, in color; the background is grass alone.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        split: `train`: at most twelve of every thirteen training digits. `validation`: the other training digits.
            `test`: the test digits. Each split has grass from other images.
        mix: `linear`: x = ρ y + (1 - ρ) t of grass y and digit t. `nonlinear`: as `linear` where a channel of the
            grass is brighter than the threshold, black elsewhere.
        rho: Weight ρ of the grass, from 0 to 1.
        threshold: Brightness of the grass, from 0 to 1, below which the nonlinear mix is black.
        per_digit: Number of images per digit class; limited by the rarest class.
        patches: Number of patches of grass; each digit is mixed with one of them at random.
        digits: `mnist`, `bundled`, or `auto`: mnist if its files are present, otherwise bundled.
        grass: `photographs` for the folder `grass` of the data root, another folder, `painted`, or `auto`: photographs
            if they are present, otherwise painted.
        grass_seed: Random seed for the patches and for pairing them with digits.
    """
    if not (0 <= rho <= 1 and 0 <= threshold <= 1 and per_digit >= 1):
        raise ValueError(
            f"rho and threshold must be from 0 to 1, and per_digit at least 1; got {rho}, {threshold}, {per_digit}."
        )
    digits, grass = resolve_source(digits, root), resolve_grass(grass, root)
    y = grass_patches(grass, patches, SIDE, root=root, split=split, seed=grass_seed)
    images, labels = read_digits(root, split="test" if split == "test" else "train", digits=digits)
    digit_rows = _digit_rows(labels, split, per_digit, grass_seed)
    seed = derive_seed(grass_seed, "digits" if split == "train" else f"{split} digits")
    patch_rows = torch.randint(len(y), (len(digit_rows),), generator=Generator().manual_seed(seed))
    x = [  # in chunks, because floats need four times the memory of bytes
        mix_images(y[patch] / 255, images[digit][:, None] / 255, mix, rho, threshold).mul(255).round().byte()
        for digit, patch in zip(digit_rows.split(5000), patch_rows.split(5000), strict=True)
    ]
    kind = "grassy-mnist" if digits == "mnist" else "grassy-digits"
    painted = grass == "painted"
    suffixes = {"nonlinear": mix == "nonlinear", "painted": painted, split: split != "train"}
    name = "-".join([kind, *(suffix for suffix, applies in suffixes.items() if applies)])
    return Dataset(
        torch.cat(x),
        name=name,
        factor_space=FactorSpace({"digit": 10}),
        combinations=labels[digit_rows],
        label="digit",
        background=Dataset(
            y, name="painted-grass" if painted else "grass", license=GENERATED if painted else ""
        ),
        license=digits_license(digits, photographs=not painted),
    )


def _digit_rows(labels: Int[Tensor, " n"], split: Split, per_digit: int, seed: int) -> Int[Tensor, " m"]:
    """The rows of a split in random order, equally many per digit; the last rows of each digit are for validation."""
    order = torch.randperm(len(labels), generator=Generator().manual_seed(derive_seed(seed, "digits")))
    rows_by_digit = [order[labels[order] == digit] for digit in range(10)]
    rarest = min(map(len, rows_by_digit))
    held_out = 0 if split == "test" else rarest // VALIDATION_EVERY
    if split == "validation":
        return torch.cat([rows[-min(per_digit, held_out) :] for rows in rows_by_digit])
    return torch.cat([rows[: min(per_digit, rarest - held_out)] for rows in rows_by_digit])


def mix_images(
    y: Float[Tensor, "n c h w"], t: Float[Tensor, "n 1 h w"], mix: Mix, rho: float, threshold: float
) -> Float[Tensor, "n c h w"]:
    """Grass y mixed with digits t: Eq. 10 (linear) or Eq. 11 (nonlinear)."""
    x = rho * y + (1 - rho) * t
    return x if mix == "linear" else x * (y > threshold)
