"""Digits in ten hues on black: the CMNIST of Unsupervised Disentanglement Learning by Intervention, 2021, App. B.

The hues are those of 3D Shapes, and every digit occurs in all ten. The sampling options decide how often: `correlate`
digit and hue, and set `train_size` to the number of digits.
"""

from pathlib import Path

import torch

from unbraid.data.color_renderer import ColorRenderer
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist import Digits, Split, digits_license, read_digits, resolve_source, with_border
from unbraid.data.rooms import hue_to_rgb

HUES = ("red", "orange", "yellow", "lime", "green", "cyan", "azure", "blue", "purple", "pink")


def hue_mnist(
    root: Path | None = None, *, split: Split = "train", digits: Digits = "auto", image_size: int = 28
) -> Dataset:
    """Handwritten digits in ten hues on black, every digit in every hue (CMNIST).

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        split: The training digits (`train`) or the test digits (`test`).
        digits: `mnist`, `bundled`, or `auto`: mnist if its files are present, otherwise bundled.
        image_size: Side of the images in pixels, at least 28; larger images get a black border.
    """
    digits = resolve_source(digits, root)
    images, labels = read_digits(root, split=split, digits=digits)
    space = FactorSpace({"digit": 10, "image": len(images), "background": 1, "hue": len(HUES)})
    digit = labels.repeat_interleave(len(HUES))
    image = torch.arange(len(images)).repeat_interleave(len(HUES))
    hue = torch.arange(len(HUES)).repeat(len(images))
    colors = hue_to_rgb(torch.arange(len(HUES)) / len(HUES))
    suffixes = [suffix for suffix in (digits, split) if suffix not in ("mnist", "train")]
    return Dataset(
        ColorRenderer(with_border(images, image_size), torch.zeros(1, 3), colors),
        name="-".join(["hue-mnist", *suffixes]),
        factor_space=space,
        combinations=space.index(torch.stack([digit, image, torch.zeros_like(hue), hue], 1)),
        label="digit",
        nuisances=("hue",),
        instance="image",
        value_names={"hue": HUES},
        unordered=("hue",),
        license=digits_license(digits),
    )
