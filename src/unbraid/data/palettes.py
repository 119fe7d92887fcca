"""The colors of Colored-MNIST: background colors of training and test, and digit colors.

The paper does not give its colors: docs/results/p1_colors.md explains how these were chosen.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float
from torch import Tensor

ColorSet = Literal["mild", "hard"]


class Palette(NamedTuple):
    """Background and digit colors as RRGGBB."""

    train: tuple[str, ...]  # background colors of the training split
    test: tuple[str, ...]  # background colors of the test split
    digits: tuple[str, ...]  # digit colors of the training split
    test_digits: tuple[str, ...]  # digit colors of the test split; those of training in both color sets


TRAIN = ("c00000", "00c000", "0000c0")  # red, green and blue
DIGIT_COLORS = ("ffffff", "ffff00", "00ffff", "ff00ff", "ff8000", "c0c0c0")
PALETTES: dict[str, Palette] = {
    # dark yellow and cyan, and magenta
    "mild": Palette(TRAIN, ("606000", "006060", "a400a4"), DIGIT_COLORS, DIGIT_COLORS),
    # as bright as in training
    "hard": Palette(TRAIN, ("c0c000", "00c0c0", "c000c0"), DIGIT_COLORS, DIGIT_COLORS),
}


def choose_palette(color_set: str, *custom: Sequence[str] | None) -> Palette:
    """The palette of a color set with some of its lists replaced.

    Args:
        color_set: `mild` or `hard`.
        custom: Background colors, test background colors, digit colors and test digit colors, each a list of RRGGBB or
            None. Without test digit colors, the test has the digit colors of training.
    """
    if color_set not in PALETTES:
        raise ValueError(f"color_set must be {' or '.join(get_args(ColorSet))}; got color_set={color_set!r}.")
    color_lists = []
    names = ("background_colors", "test_background_colors", "digit_colors", "test_digit_colors")
    *defaults, _ = PALETTES[color_set]
    defaults.append(custom[2] or defaults[2])  # type: ignore[arg-type]
    for name, colors, default in zip(names, custom, defaults, strict=True):
        if colors is not None and not colors:
            raise ValueError(f"The list {name} is empty: give at least one color as RRGGBB.")
        color_lists.append(tuple(color.lower().lstrip("#") for color in colors or default))
        if len(set(color_lists[-1])) < len(color_lists[-1]):
            raise ValueError(f"The list {name} names a color twice: {', '.join(color_lists[-1])}.")
    palette = Palette(*color_lists)
    rgb([color for colors in palette for color in colors])
    if ambiguous := {*palette.digits, *palette.test_digits} & {*palette.train, *palette.test}:
        raise ValueError(
            f"A digit is invisible on its own color, and {', '.join(sorted(ambiguous))} is both a digit color and a "
            "background color."
        )
    return palette


def rgb(colors: Sequence[str]) -> Float[Tensor, "p 3"]:
    """Colors given as RRGGBB, as red, green and blue in [0, 1]."""
    for color in colors:
        if len(color) != 6 or not set(color) <= set("0123456789abcdef"):
            raise ValueError(f"A color is written RRGGBB, such as ff8000; got {color!r}.")
    return torch.tensor([list(bytes.fromhex(color)) for color in colors]) / 255
