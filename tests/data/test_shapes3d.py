"""Files in 3D Shapes' official format, src/unbraid/data/shapes3d.py."""

from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.data.factors import FactorSpace
from unbraid.data.shapes3d import SPACE, read_shapes3d, shapes3d

SMALL = FactorSpace(
    {"floor_hue": 2, "wall_hue": 3, "object_hue": 2, "scale": 2, "shape": 4, "orientation": 3}
)


def write(folder: Path, *, order: slice = slice(None), dtype: type = np.uint8) -> Path:
    """A file as the official one is: compressed pictures, and labels in their own units."""
    values = SMALL.values(torch.arange(288)).numpy()
    images = np.zeros((288, 64, 64, 3), dtype)
    images[:, 1, :6, 2] = values  # row 1, blue
    units = [np.arange(10) / 10] * 3 + [np.linspace(0.75, 1.25, 8), np.arange(4), np.linspace(-30, 30, 15)]
    labels = np.stack([unit[column] for unit, column in zip(units, values.T, strict=True)], 1)
    with h5py.File(folder / "3dshapes.h5", "w") as file:
        file.create_dataset("images", data=images, compression="gzip", compression_opts=1)
        file["labels"] = labels[order]
    return folder / "3dshapes.h5"


def test_a_small_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    dataset = read_shapes3d(write(tmp_path), SMALL)
    rows = torch.arange(288)
    assert_close(dataset.observe(rows)[:, 2, 1, :6] * 255, dataset.factors(rows).float())
    assert dataset.shape == (3, 64, 64)
    assert (dataset.label, dataset.nuisances) == ("shape", ("object_hue",))
    assert set(dataset.unordered) == {"shape", "floor_hue", "wall_hue", "object_hue"}


def test_another_order_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="in another order than floor_hue, wall_hue"):
        read_shapes3d(write(tmp_path, order=slice(None, None, -1)), SMALL)


def test_other_sizes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"shape \(480000, 64, 64, 3\) in uint8, but has \(288, 64, 64, 3\)"):
        read_shapes3d(write(tmp_path), SPACE)
    with pytest.raises(ValueError, match="in uint16"):
        read_shapes3d(write(tmp_path, dtype=np.uint16), SMALL)


def test_too_few_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="in another order"):
        read_shapes3d(write(tmp_path, order=slice(100)), SMALL)


def test_a_missing_file_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="unbraid data download shapes3d"):
        shapes3d(tmp_path)
