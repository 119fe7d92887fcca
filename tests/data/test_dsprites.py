"""Files in dSprites' official format, src/unbraid/data/dsprites.py."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.data.dsprites import FILE, SOURCE, SPACE, dsprites, read_dsprites
from unbraid.data.factors import FactorSpace
from unbraid.data.root import data_root

SMALL = FactorSpace({"shape": 3, "scale": 2, "orientation": 2, "pos_x": 3, "pos_y": 2})


def write(folder: Path, *, order: slice = slice(None), **changes: np.ndarray) -> Path:
    """A file as the official one is, with the pictures of a small space."""
    classes = SMALL.values(torch.arange(72)).numpy()
    images = np.zeros((72, 64, 64), np.uint8)
    images[:, 0, :5] = classes > 0
    arrays = {
        "metadata": np.array({"title": "dSprites"}, dtype=object),
        "imgs": images,
        "latents_classes": np.concatenate([np.zeros((72, 1), int), classes], 1)[order],
        "latents_values": np.zeros((72, 6)),
    }
    np.savez_compressed(folder / FILE, **(arrays | changes))
    return folder / FILE


def test_a_small_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    dataset = read_dsprites(write(tmp_path), SMALL)
    rows = torch.arange(72)
    assert_close(dataset.observe(rows)[:, 0, 0, :5], (dataset.factors(rows) > 0).float())
    assert dataset.shape == (1, 64, 64)
    assert dataset.label == "shape"


def test_another_order_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, order=slice(None, None, -1))
    with pytest.raises(ValueError, match="in another order than shape, scale, orientation, pos_x, pos_y"):
        read_dsprites(path, SMALL)


def test_another_number_of_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"`imgs` of shape \(737280, 64, 64\) in uint8, but has \(72, 64, 64\)"
    ):
        read_dsprites(write(tmp_path), SPACE)


def test_missing_factors_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / FILE, imgs=np.zeros((72, 64, 64), np.uint8))
    with pytest.raises(ValueError, match="latents_classes"):
        read_dsprites(tmp_path / FILE, SMALL)


def test_a_missing_file_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="unbraid data download dsprites") as caught:
        dsprites(tmp_path)
    assert str(tmp_path / "dsprites" / FILE) in str(caught.value)


@pytest.mark.slow
def test_the_official_file() -> None:
    if not (data_root() / SOURCE.file).is_file():
        pytest.skip("dSprites is not under UNBRAID_DATA")
    SOURCE.verify(SOURCE.require())
    dataset = dsprites()
    assert len(dataset) == 737_280
    # Square, full size, upright, in the two far corners: 20 pixels a side, from the 6th and the 38th on.
    corners = SPACE.index(torch.tensor([[0, 5, 0, 0, 0], [0, 5, 0, 31, 31], [0, 5, 0, 0, 31]]))
    seen = dataset.observe(corners)[:, 0]
    for picture, column, row in zip(seen, (6, 38, 6), (6, 38, 38), strict=True):
        expected = torch.zeros(64, 64)
        expected[row : row + 20, column : column + 20] = 1
        assert_close(picture, expected)
