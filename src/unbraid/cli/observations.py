"""Reads images or table rows from files named on the command line, in the input shape of a model."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from unbraid.data import ARRAY_SUFFIXES, from_npz, image_files, read_image
from unbraid.runs import as_observations
from unbraid.types import Observations


def read_observations(paths: Sequence[Path], shape: tuple[int, ...]) -> tuple[list[str], Observations]:
    """The names and observations of image files, folders, one .npz or one .npy, in the shape of a model's input."""
    if len(paths) == 1 and paths[0].suffix in ARRAY_SUFFIXES:
        dataset = from_npz(paths[0])
        x = dataset.observe(torch.arange(len(dataset)))
        return [str(row) for row in range(len(x))], as_observations(x, shape)
    if len(shape) != 3:
        raise ValueError(f"The model takes rows of {shape[0]} values: give an .npz with an array `images`.")
    files = [file for path in paths for file in (image_files(path) if path.is_dir() else [path])]
    if not files:
        raise ValueError(f"{', '.join(map(str, paths))} contains no images.")
    images: list[Tensor] = [read_image(file, shape) for file in files]  # type: ignore[arg-type]
    return [file.name for file in files], torch.stack(images).float() / 255
