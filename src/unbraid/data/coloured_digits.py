"""Colored-MNIST and Rotation-Colored-MNIST: digits in colours, and turned, that training does not show.

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Sec. 4.1. Training has three backgrounds and
six digit colours; the test has three other backgrounds and the same digit colours, and in the second data set
other angles. The paper does not give its colours: docs/results/p1_colours.md says how these were chosen.
"""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float, Int, UInt8
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist import Digits, read_digits, which, with_border
from unbraid.data.rotation import Turns
from unbraid.seeds import derive

Colours = Literal["mild", "hard"]
Part = Literal["train", "validation", "rehearsal", "test"]
TRAIN_ANGLES = (0.0, 22.5, -22.5, 45.0, -45.0)
TEST_ANGLES = (-75.0, -65.0, 65.0, 75.0)


class Palette(NamedTuple):
    """The colours of a data set, as RRGGBB."""

    train: tuple[str, ...]  # backgrounds
    test: tuple[str, ...]
    inks: tuple[str, ...]


TRAIN = ("c00000", "00c000", "0000c0")  # red, green and blue
INKS = ("ffffff", "ffff00", "00ffff", "ff00ff", "ff8000", "c0c0c0")
PALETTES: dict[str, Palette] = {
    "mild": Palette(TRAIN, ("606000", "006060", "a400a4"), INKS),  # yellow and cyan, dark, and magenta
    "hard": Palette(TRAIN, ("c0c000", "00c0c0", "c000c0"), INKS),  # the same as bright as in training
}


def colored_mnist(
    root: Path | None = None,
    *,
    part: Part = "train",
    colours: Colours = "mild",
    colourings: int = 2,
    held_out: int = 0,
    digits: Digits = "auto",
    backgrounds: tuple[str, ...] | None = None,
    test_backgrounds: tuple[str, ...] | None = None,
    inks: tuple[str, ...] | None = None,
    colour_seed: int = 0,
    size: int = 28,
) -> Dataset:
    """Written digits in colour on coloured ground, whose test part has other grounds (Colored-MNIST).

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        part: `train` shows each training digit in a few fixed colourings; `validation` does so for those held out;
            `rehearsal` shows those held out in every colouring of the test's grounds, and `test` each test digit.
        colours: `mild`, as hard for a plain network as the paper's are, or `hard`.
        colourings: How many colourings of each training digit there are, all different, drawn once and kept.
        held_out: How many training digits are kept for the parts `validation` and `rehearsal`.
        digits: `mnist`, `bundled`, or `auto`: mnist where its files are, bundled otherwise.
        backgrounds: Colours of the training's grounds, as RRGGBB, in the place of the set's.
        test_backgrounds: Colours of the test's grounds.
        inks: Colours of the digits.
        colour_seed: Of the colouring of each training digit.
        size: Side of the picture in pixels; above 28 the ground is larger.
    """
    palette = _palette(colours, backgrounds, test_backgrounds, inks)
    images, labels = read_digits(root, part="test" if part == "test" else "train", digits=digits)
    name = ["colored-mnist", *_marks(colours, which(digits, root), part)]
    return _dataset("-".join(name), images, labels, palette, part, colourings, held_out, colour_seed, size)


def rotation_colored_mnist(
    root: Path | None = None,
    *,
    part: Part = "train",
    colours: Colours = "mild",
    colourings: int = 2,
    held_out: int = 0,
    digits: Digits = "auto",
    backgrounds: tuple[str, ...] | None = None,
    test_backgrounds: tuple[str, ...] | None = None,
    inks: tuple[str, ...] | None = None,
    angles: tuple[float, ...] = TRAIN_ANGLES,
    test_angles: tuple[float, ...] = TEST_ANGLES,
    free_angle: bool = False,
    colour_seed: int = 0,
    size: int = 28,
) -> Dataset:
    """Written digits in colour and turned, whose test part has other grounds and angles (Rotation-Colored-MNIST).

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        part: `train` shows each training digit in a few fixed colourings; `validation` does so for those held out;
            `rehearsal` shows those held out in every colouring of the test's grounds at every one of its angles,
            and `test` each test digit.
        colours: `mild`, as hard for a plain network as the paper's are, or `hard`.
        colourings: How many colourings of each training digit there are, all different, drawn once and kept.
        held_out: How many training digits are kept for the parts `validation` and `rehearsal`.
        digits: `mnist`, `bundled`, or `auto`: mnist where its files are, bundled otherwise.
        backgrounds: Colours of the training's grounds, as RRGGBB, in the place of the set's.
        test_backgrounds: Colours of the test's grounds.
        inks: Colours of the digits.
        angles: Of the training digits in degrees, counterclockwise; one is drawn for each digit and kept.
        test_angles: Of the test digits.
        free_angle: Draws an angle for each colouring of a digit, not one for all of them.
        colour_seed: Of the colouring and angle of each training digit.
        size: Side of the picture in pixels; above 28 the ground is larger.
    """
    palette = _palette(colours, backgrounds, test_backgrounds, inks)
    for option, given in (("angles", angles), ("test_angles", test_angles)):
        if not given:
            raise ValueError(f"The list of {option} is empty: give at least one angle in degrees.")
        listed = ", ".join(f"{angle:g}" for angle in given)
        if not all(map(math.isfinite, given)):
            raise ValueError(f"The list of {option} must hold finite numbers of degrees; got {listed}.")
        if len(set(given)) < len(given):
            raise ValueError(f"The list of {option} names an angle twice: {listed}.")
    images, labels = read_digits(root, part="test" if part == "test" else "train", digits=digits)
    name = ["rotation-colored-mnist", *_marks(colours, which(digits, root), part)]
    turned = (tuple(map(float, angles)), tuple(map(float, test_angles)), free_angle)
    return _dataset(
        "-".join(name), images, labels, palette, part, colourings, held_out, colour_seed, size, turned
    )


class ColourRenderer:
    """Pictures of factor values (digit, image, background, ink and, where digits are turned, angle).

    It holds the grey digits as bytes, and turns and colours them in batches where they lie: a pixel is
    background · (1 - g) + ink · g, with g the grey of the turned digit.
    """

    def __init__(
        self,
        digits: UInt8[Tensor, "n h w"],
        backgrounds: Float[Tensor, "p 3"],
        inks: Float[Tensor, "q 3"],
        turns: Turns | None = None,
    ) -> None:
        self.digits, self.backgrounds, self.inks, self.turns = digits, backgrounds, inks, turns

    @property
    def shape(self) -> tuple[int, int, int]:
        return (3, *self.digits.shape[1:])  # type: ignore[return-value]

    @property
    def nbytes(self) -> int:
        return self.digits.nbytes

    def to(self, device: torch.device | str) -> "ColourRenderer":
        """The same with its digits and colours on a device."""
        turns = None if self.turns is None else self.turns.to(device)
        return ColourRenderer(
            self.digits.to(device), self.backgrounds.to(device), self.inks.to(device), turns
        )

    def __call__(self, values: Int[Tensor, "n k"]) -> UInt8[Tensor, "n 3 h w"]:
        here = values.to(self.digits.device)
        grey = self.digits.index_select(0, here[:, 1]).float() / 255
        if self.turns is not None:
            grey = self.turns(grey, here[:, 4])
        ground = self.backgrounds.index_select(0, here[:, 2])[:, :, None, None]
        ink = self.inks.index_select(0, here[:, 3])[:, :, None, None]
        pixels = torch.lerp(ground, ink, grey[:, None])
        return pixels.mul_(255).round_().to(torch.uint8).to(values.device)

    def __repr__(self) -> str:  # of all that decides the pictures, so that a run can tell its data apart
        digits = hashlib.sha256(self.digits.cpu().numpy().tobytes()).hexdigest()
        colours = [table.cpu().mul(255).round().int().tolist() for table in (self.backgrounds, self.inks)]
        return f"ColourRenderer({digits}, {colours}, {self.turns})"


def _dataset(
    name: str,
    images: UInt8[Tensor, "n 28 28"],
    labels: Int[Tensor, " n"],
    palette: Palette,
    part: Part,
    colourings: int,
    held_out: int,
    seed: int,
    size: int,
    turned: tuple[tuple[float, ...], tuple[float, ...], bool] | None = None,
) -> Dataset:
    """Training and test share one space, so that a background or an angle has the same number in both."""
    grounds = tuple(dict.fromkeys([*palette.train, *palette.test]))
    angles = () if turned is None else tuple(dict.fromkeys([*turned[0], *turned[1]]))
    sizes = {"digit": 10, "image": len(images), "background": len(grounds), "ink": len(palette.inks)}
    space = FactorSpace(sizes | ({"angle": len(angles)} if angles else {}))
    new = part in ("rehearsal", "test")
    shown = [grounds.index(colour) for colour in (palette.test if new else palette.train)]
    colours = torch.cartesian_prod(torch.tensor(shown), torch.arange(len(palette.inks)))
    generator = Generator().manual_seed(derive(seed, "colours"))
    if not new:
        if not 1 <= colourings <= len(colours):
            raise ValueError(
                f"A digit has 1 to {len(colours)} different colourings of {len(shown)} grounds and "
                f"{len(palette.inks)} inks; got colourings={colourings}."
            )
        order = torch.rand(len(images), len(colours), generator=generator).argsort(1)
        columns = [colours[order[:, :colourings]]]  # (images, colourings, background and ink)
    else:
        columns = [colours.expand(len(images), -1, -1)]
    if turned is not None:
        train, test, free = turned
        if not new:
            drawn = torch.randint(len(train), (len(images), colourings, 1), generator=generator)
            columns.append(drawn if free else drawn[:, :1].expand(-1, colourings, -1))
        else:  # every colouring at every angle
            numbers = torch.tensor([angles.index(angle) for angle in test])
            repeated = columns[0].repeat_interleave(len(test), 1)
            columns = [repeated, numbers.repeat(columns[0].shape[1])[:, None].expand(len(images), -1, -1)]
    which_one = torch.stack([labels, torch.arange(len(images))], 1)[:, None]
    rows = torch.cat([which_one.expand(-1, columns[0].shape[1], -1), *columns], 2)
    if part != "test":
        rows = rows[_kept(len(images), held_out, part)]
    return Dataset(
        ColourRenderer(
            with_border(images, size),
            rgb(grounds),
            rgb(palette.inks),
            Turns(angles, size) if angles else None,
        ),
        name=name,
        space=space,
        combinations=space.index(rows.flatten(0, 1)),
        label="digit",
        nuisances=("background", "ink"),
        unknown=("angle",) if angles else (),
        instance="image",
        value_names={
            "background": grounds,
            "ink": palette.inks,
            **({"angle": [f"{angle:+g}" if angle else "0" for angle in angles]} if angles else {}),
        },
    )


def _kept(count: int, held_out: int, part: Part) -> Int[Tensor, " n"]:
    """The numbers of the training digits that a part shows; which ones are held out is always the same."""
    kept_apart = part in ("validation", "rehearsal")
    least = 1 if kept_apart else 0
    if not least <= held_out < count:
        raise ValueError(
            f"Of {count} training digits {least} to {count - 1} can be held out for validation; got "
            f"held_out={held_out}."
        )
    order = torch.randperm(count, generator=Generator().manual_seed(0))
    return (order[:held_out] if kept_apart else order[held_out:]).sort().values


def _palette(colours: str, *given: Sequence[str] | None) -> Palette:
    if colours not in PALETTES:
        raise ValueError(f"The colours are {', '.join(get_args(Colours))}; got colours={colours!r}.")
    chosen = []
    for name, own, kept in zip(
        ("backgrounds", "test_backgrounds", "inks"), given, PALETTES[colours], strict=True
    ):
        if own is not None and not own:
            raise ValueError(f"The list of {name} is empty: give at least one colour as RRGGBB.")
        chosen.append(tuple(colour.lower().lstrip("#") for colour in own or kept))
        if len(set(chosen[-1])) < len(chosen[-1]):
            raise ValueError(f"The list of {name} names a colour twice: {', '.join(chosen[-1])}.")
    palette = Palette(*chosen)
    rgb([colour for table in palette for colour in table])
    if both := {*palette.inks} & {*palette.train, *palette.test}:
        raise ValueError(
            f"A digit cannot be seen on its own colour, and {', '.join(sorted(both))} is both ink and background."
        )
    return palette


def rgb(colours: Sequence[str]) -> Float[Tensor, "p 3"]:
    """Colours written RRGGBB, each part between 0 and 1."""
    for colour in colours:
        if len(colour) != 6 or not set(colour) <= set("0123456789abcdef"):
            raise ValueError(f"A colour is written RRGGBB, such as ff8000; got {colour!r}.")
    return torch.tensor([list(bytes.fromhex(colour)) for colour in colours]) / 255


def _marks(colours: Colours, source: str, part: Part) -> list[str]:
    """What a dataset's name says beside what is usual: hard colours, bundled digits, the test part."""
    usual = {"mild", "mnist", "train"}
    return [mark for mark in (colours, source, part) if mark not in usual]
