"""Files in MPI3D's official format, src/unbraid/data/mpi3d.py."""

import importlib
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.data.factors import FactorSpace
from unbraid.data.mpi3d import SOURCES, SPACE, check_images, mpi3d, read_mpi3d

SMALL = FactorSpace(
    {
        "object_color": 2,
        "object_shape": 3,
        "object_size": 2,
        "camera_height": 1,
        "background_color": 2,
        "horizontal_axis": 3,
        "vertical_axis": 2,
    }
)


def write(folder: Path, save=np.savez_compressed) -> Path:  # noqa: ANN001
    images = np.zeros((144, 64, 64, 3), np.uint8)
    images[:, 3, :7, 0] = SMALL.values(torch.arange(144)).numpy()
    save(folder / "mpi3d_toy.npz", images=images)
    return folder / "mpi3d_toy.npz"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_small_file_is_read_as_it_was_written(tmp_path: Path, save) -> None:  # noqa: ANN001
    dataset = read_mpi3d(write(tmp_path, save), SMALL, "mpi3d-toy")
    rows = torch.arange(144)
    assert_close(dataset.observe(rows)[:, 0, 3, :7] * 255, dataset.factors(rows).float())
    assert (dataset.label, dataset.nuisances) == ("object_shape", ("object_color",))
    assert set(dataset.unordered) == {"object_shape", "object_color", "background_color"}


def test_the_official_number_of_images() -> None:
    assert SPACE.num_combinations == 1_036_800


def test_another_number_of_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"shape \(1036800, 64, 64, 3\) in uint8, but has \(144, 64, 64, 3\)"
    ):
        read_mpi3d(write(tmp_path), SPACE, "mpi3d-toy")


@pytest.mark.parametrize("variant", ["real", "realistic", "toy"])
def test_a_missing_file_says_how_to_get_it(tmp_path: Path, variant: str) -> None:
    with pytest.raises(FileNotFoundError, match=f"mpi3d_{variant}.npz is missing"):
        mpi3d(tmp_path, variant=variant)


def test_images_that_look_like_noise_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of files without the published hash. The damage of the copy that was published for a year may be another."""
    monkeypatch.setattr(importlib.import_module("unbraid.data.mpi3d"), "SPACE", SMALL)
    path = tmp_path / "mpi3d_real.npz"
    smooth = np.linspace(0, 255, 64).astype(np.uint8)[:, None, None] + np.zeros((144, 64, 64, 3), np.uint8)
    noise = np.random.default_rng(0).integers(0, 256, smooth.shape, np.uint8)
    np.savez_compressed(path, images=smooth)
    check_images(path)
    evidence = SOURCES["real"].verify(path)
    assert evidence == "the content only, because its md5 is that of another copy than the published one"
    for images, reason in ((noise, "look like noise; a copy"), (np.zeros_like(noise), "are blank")):
        np.savez_compressed(path, images=images)
        with pytest.raises(ValueError, match=f"is not the published file: its images {reason}"):
            SOURCES["real"].verify(path)
