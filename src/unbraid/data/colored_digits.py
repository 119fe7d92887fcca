"""Colored-MNIST and Rotation-Colored-MNIST: the test shows digits in colors and at angles that training does not.

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Sec. 4.1. Training has three background colors and
six digit colors; the test has three other background colors, the same digit colors and, in Rotation-Colored-MNIST,
other angles. For out-of-distribution validation the test can have other digit colors, too.
"""

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from unbraid.data.color_renderer import ColorRenderer
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist import Digits, digits_license, read_digits, resolve_source, with_border
from unbraid.data.palettes import ColorSet, Palette, choose_palette, rgb
from unbraid.data.rotation import FixedRotations
from unbraid.options import with_arguments_of
from unbraid.seeds import derive_seed

Split = Literal["train", "validation", "ood-validation", "test"]
TRAIN_ANGLES = (0.0, 22.5, -22.5, 45.0, -45.0)
TEST_ANGLES = (-75.0, -65.0, 65.0, 75.0)


class Angles(NamedTuple):
    """The angles of the digits in degrees."""

    train: tuple[float, ...]
    test: tuple[float, ...]
    per_coloring: bool  # whether each coloring of a digit has its own angle


@dataclass(frozen=True, kw_only=True)
class ColoredDigitOptions:
    """The options that both datasets share.

    Args:
        split: `train`: training digits, each in a few fixed colorings. `validation`: held-out training digits in such
            colorings. `ood-validation`: held-out training digits in every coloring, and at every angle, of the test.
            `test`: test digits.
        color_set: `mild`, as hard for a plain CNN as the paper's colors are, or `hard`.
        colorings: Number of different colorings of each training digit, drawn once.
        validation_digits: Number of training digits held out for `validation` and `ood-validation`.
        digits: `mnist`, `bundled`, or `auto`: mnist if its files are present, otherwise bundled.
        background_colors: Background colors of training as RRGGBB, in place of those of the color set.
        test_background_colors: Background colors of the test.
        digit_colors: Colors of the digits.
        test_digit_colors: Colors of the digits of the test; default: those of training.
        color_seed: Random seed for the colorings, and for the angles, of the training digits.
        image_size: Side of the images in pixels; above 28 the background is larger.
    """

    split: Split = "train"
    color_set: ColorSet = "mild"
    colorings: int = 2
    validation_digits: int = 0
    digits: Digits = "auto"
    background_colors: tuple[str, ...] | None = None
    test_background_colors: tuple[str, ...] | None = None
    digit_colors: tuple[str, ...] | None = None
    test_digit_colors: tuple[str, ...] | None = None
    color_seed: int = 0
    image_size: int = 28


OPTIONS = tuple(field.name for field in fields(ColoredDigitOptions))


@with_arguments_of(ColoredDigitOptions, OPTIONS)
def colored_mnist(root: Path | None = None, **options: Any) -> Dataset:
    """Handwritten digits in color; the test has other background colors than training (Colored-MNIST).

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
    """
    return _open("colored-mnist", root, ColoredDigitOptions(**options))


@with_arguments_of(ColoredDigitOptions, OPTIONS)
def rotation_colored_mnist(
    root: Path | None = None,
    *,
    angles: tuple[float, ...] = TRAIN_ANGLES,
    test_angles: tuple[float, ...] = TEST_ANGLES,
    angle_per_coloring: bool = False,
    **options: Any,
) -> Dataset:
    """Rotated digits in color; the test has other background colors and angles (Rotation-Colored-MNIST).

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        angles: Angles of the training digits in degrees, counterclockwise; one is drawn per digit.
        test_angles: Angles of the test digits in degrees.
        angle_per_coloring: Draw an angle for each coloring of a digit instead of one per digit.
    """
    _check_angles(angles=angles, test_angles=test_angles)
    rotations = Angles(tuple(map(float, angles)), tuple(map(float, test_angles)), angle_per_coloring)
    return _open("rotation-colored-mnist", root, ColoredDigitOptions(**options), rotations)


def _check_angles(**lists: tuple[float, ...]) -> None:
    for option, angles in lists.items():
        if not angles:
            raise ValueError(f"The list {option} is empty: give at least one angle in degrees.")
        text = ", ".join(f"{angle:g}" for angle in angles)
        if not all(map(math.isfinite, angles)):
            raise ValueError(f"The list {option} must hold finite numbers of degrees; got {text}.")
        if len(set(angles)) < len(angles):
            raise ValueError(f"The list {option} names an angle twice: {text}.")


class Colorings(NamedTuple):
    """The colors and angles in which digits are shown."""

    palette: Palette
    count: int  # colorings of each training digit
    seed: int
    angles: Angles | None = None

    @property
    def backgrounds(self) -> tuple[str, ...]:
        """All background colors; training and test number them alike."""
        return tuple(dict.fromkeys([*self.palette.train, *self.palette.test]))

    @property
    def inks(self) -> tuple[str, ...]:
        """All digit colors; training and test number them alike."""
        return tuple(dict.fromkeys([*self.palette.digits, *self.palette.test_digits]))

    @property
    def all_angles(self) -> tuple[float, ...]:
        """All angles; training and test number them alike."""
        return () if self.angles is None else tuple(dict.fromkeys([*self.angles.train, *self.angles.test]))

    def of_training(self, images: int) -> Int[Tensor, "n c v"]:
        """Background, ink and angle of each training digit's colorings, drawn by the seed."""
        colors = self._colors(self.palette.train, self.palette.digits)
        generator = Generator().manual_seed(derive_seed(self.seed, "colours"))
        if not 1 <= self.count <= len(colors):
            raise ValueError(
                f"A digit has 1 to {len(colors)} different colorings, from {len(self.palette.train)} background colors "
                f"and {len(self.palette.digits)} digit colors; got colorings={self.count}."
            )
        order = torch.rand(images, len(colors), generator=generator).argsort(1)
        columns = [colors[order[:, : self.count]]]
        if self.angles is not None:
            shape = (images, self.count, 1)
            angles = torch.randint(len(self.angles.train), shape, generator=generator)
            columns.append(angles if self.angles.per_coloring else angles[:, :1].expand(shape))
        return torch.cat(columns, 2)

    def of_test(self, images: int) -> Int[Tensor, "n c v"]:
        """Every coloring of the test, at every angle, for each digit."""
        colors = self._colors(self.palette.test, self.palette.test_digits)
        if self.angles is not None:
            test = torch.tensor([self.all_angles.index(angle) for angle in self.angles.test])
            repeated = colors.repeat_interleave(len(test), 0)
            colors = torch.cat([repeated, test.repeat(len(colors))[:, None]], 1)
        return colors.expand(images, -1, -1)

    def _colors(self, backgrounds: tuple[str, ...], inks: tuple[str, ...]) -> Int[Tensor, "c 2"]:
        """All combinations of these background colors with these digit colors."""
        numbers = (
            [self.backgrounds.index(color) for color in backgrounds],
            [self.inks.index(ink) for ink in inks],
        )
        return torch.cartesian_prod(*map(torch.tensor, numbers))


def _open(
    name: str, root: Path | None, options: ColoredDigitOptions, angles: Angles | None = None
) -> Dataset:
    """The digits of a split in their colorings. All splits share one factor space."""
    split = options.split
    chosen = (
        options.color_set,
        options.background_colors,
        options.test_background_colors,
        options.digit_colors,
        options.test_digit_colors,
    )
    colors = Colorings(choose_palette(*chosen), options.colorings, options.color_seed, angles)
    official = "test" if split == "test" else "train"
    digits = resolve_source(options.digits, root)
    images, labels = read_digits(root, split=official, digits=digits)
    all_angles, inks = colors.all_angles, colors.inks
    sizes = {"digit": 10, "image": len(images), "background": len(colors.backgrounds), "ink": len(inks)}
    space = FactorSpace(sizes | ({"angle": len(all_angles)} if all_angles else {}))
    of_test = split in ("ood-validation", "test")
    columns = colors.of_test(len(images)) if of_test else colors.of_training(len(images))
    identity = torch.stack([labels, torch.arange(len(images))], 1)[:, None]
    rows = torch.cat([identity.expand(-1, columns.shape[1], -1), columns], 2)
    if split != "test":
        rows = rows[_training_digits(len(images), options.validation_digits, split)]
    renderer = ColorRenderer(
        with_border(images, options.image_size),
        rgb(colors.backgrounds),
        rgb(inks),
        FixedRotations(all_angles, options.image_size) if all_angles else None,
    )
    marks = (options.color_set, digits, split)
    angle_names = {"angle": [f"{angle:+g}" if angle else "0" for angle in all_angles]} if angles else {}
    return Dataset(
        renderer,
        name=_name(name, marks),
        factor_space=space,
        combinations=space.index(rows.flatten(0, 1)),
        label="digit",
        nuisances=("background", "ink"),
        hidden_nuisances=("angle",) if angles else (),
        instance="image",
        value_names={"background": colors.backgrounds, "ink": inks, **angle_names},
        unordered=("background", "ink", *angle_names),  # angles are numbered in the order of the options
        license=digits_license(digits),
    )


def _training_digits(count: int, held_out: int, split: Split) -> Int[Tensor, " n"]:
    """The numbers of the training digits in a split; the held-out digits never depend on a seed."""
    validates = split in ("validation", "ood-validation")
    minimum = 1 if validates else 0
    if not minimum <= held_out < count:
        raise ValueError(
            f"Of {count} training digits {minimum} to {count - 1} can be held out for validation; got "
            f"validation_digits={held_out}."
        )
    order = torch.randperm(count, generator=Generator().manual_seed(0))
    return (order[:held_out] if validates else order[held_out:]).sort().values


def _name(name: str, marks: tuple[str, ...]) -> str:
    """The dataset's name with every mark that differs from the usual: mild colors, MNIST, training."""
    return "-".join([name, *(mark for mark in marks if mark not in ("mild", "mnist", "train"))])
