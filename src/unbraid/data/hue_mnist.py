"""Digits in ten hues on black: the CMNIST of Unsupervised Disentanglement Learning by Intervention, 2021, App. B.

The hues are those of 3D Shapes. Each digit is there in all ten; which digit comes in which hue how often is for the
law to say: `correlate` digit and hue, and `resample` as many pictures as there are digits.
"""

from pathlib import Path

import torch

from unbraid.data.coloured_digits import ColourRenderer
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist import Digits, Part, read_digits, which, with_border
from unbraid.data.rooms import hue_to_rgb

HUES = ("red", "orange", "yellow", "lime", "green", "cyan", "azure", "blue", "purple", "pink")


def hue_mnist(
    root: Path | None = None, *, part: Part = "train", digits: Digits = "auto", size: int = 28
) -> Dataset:
    """Written digits in ten hues on black, every digit in every hue (CMNIST).

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        part: The training digits or the test digits.
        digits: `mnist`, `bundled`, or `auto`: mnist where its files are, bundled otherwise.
        size: Side of the picture in pixels; above 28 it gets a black border.
    """
    images, labels = read_digits(root, part=part, digits=digits)
    space = FactorSpace({"digit": 10, "image": len(images), "background": 1, "hue": len(HUES)})
    digit = labels.repeat_interleave(len(HUES))
    image = torch.arange(len(images)).repeat_interleave(len(HUES))
    hue = torch.arange(len(HUES)).repeat(len(images))
    colours = hue_to_rgb(torch.arange(len(HUES)) / len(HUES))
    marks = [mark for mark in (which(digits, root), part) if mark not in ("mnist", "train")]
    return Dataset(
        ColourRenderer(with_border(images, size), torch.zeros(1, 3), colours),
        name="-".join(["hue-mnist", *marks]),
        space=space,
        combinations=space.index(torch.stack([digit, image, torch.zeros_like(hue), hue], 1)),
        label="digit",
        nuisances=("hue",),
        instance="image",
        value_names={"hue": HUES},
    )
