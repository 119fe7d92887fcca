"""Reading images and rows, src/unbraid/cli/observations.py."""

from pathlib import Path

import numpy as np
import pytest

from unbraid.cli.observations import read_observations


def test_files_and_folders_are_read_in_the_shape_of_the_model(image_folder: Path) -> None:
    names, images = read_observations([image_folder, image_folder / "a.png"], (1, 32, 32))
    assert names == ["a.png", "b.png", "a.png"] and images.shape == (3, 1, 32, 32)
    assert images[0].unique().tolist() == pytest.approx([40 / 255])


def test_the_rows_of_an_array_are_named_by_index(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", images=np.full((2, 32, 32), 255, np.uint8))
    names, images = read_observations([tmp_path / "mine.npz"], (1, 32, 32))
    assert names == ["0", "1"] and images.shape == (2, 1, 32, 32) and bool((images == 1).all())


def test_an_empty_folder_and_rows_from_images_are_refused(image_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty contains no images\."):
        read_observations([tmp_path / "empty"], (1, 32, 32))
    with pytest.raises(ValueError, match="rows of 5 values"):
        read_observations([image_folder], (5,))
