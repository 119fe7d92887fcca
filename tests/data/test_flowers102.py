"""Oxford Flowers 102, src/unbraid/data/flowers102.py."""

import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from unbraid.data.dataset_files import check_dataset
from unbraid.data.flowers102 import flowers102


def make(root: Path, count: int = 3) -> Path:
    folder = root / "flowers102"
    (folder / "jpg").mkdir(parents=True)
    for number in range(1, count + 1):
        Image.new("RGB", (20, 12), (40 * number, 0, 0)).save(folder / "jpg" / f"image_{number:05}.jpg")
    savemat(folder / "imagelabels.mat", {"labels": np.array([[5, 102, 1]])[:, :count]})
    return folder


def test_images_are_square_and_have_their_kind(tmp_path: Path) -> None:
    make(tmp_path)
    dataset = flowers102(tmp_path, image_size=8)
    assert dataset.shape == (3, 8, 8) and len(dataset) == 3
    factors = dataset.factors(dataset.indices())
    assert factors is not None and factors[:, 0].tolist() == [4, 101, 0]
    assert abs(float(dataset.observe(dataset.indices())[1, 0].mean()) - 80 / 255) < 0.02
    assert "flowers102 is complete: 3 images" in check_dataset("flowers102", tmp_path)


def test_the_official_archive_is_unpacked_once_and_nothing_but_its_images(tmp_path: Path) -> None:
    folder = make(tmp_path)
    (folder / "jpg" / "notes.txt").write_text("no picture")
    with tarfile.open(folder / "102flowers.tgz", "w:gz") as archive:
        archive.add(folder / "jpg", "jpg")
        archive.add(folder / "jpg" / "image_00001.jpg", "../../outside.jpg")
    for file in (folder / "jpg").iterdir():
        file.unlink()
    (folder / "jpg").rmdir()
    assert len(flowers102(tmp_path, image_size=8)) == 3
    names = sorted(file.name for file in (folder / "jpg").iterdir())
    assert names == ["image_00001.jpg", "image_00002.jpg", "image_00003.jpg"]
    assert not (tmp_path.parent / "outside.jpg").exists()


def test_an_archive_is_unpacked_completely_or_not_at_all(tmp_path: Path) -> None:
    """One that ends in the middle leaves nothing that would be taken for the dataset; missing pictures are said."""
    folder = make(tmp_path)
    with tarfile.open(folder / "102flowers.tgz", "w") as archive:
        archive.add(folder / "jpg", "jpg")
    whole = (folder / "102flowers.tgz").read_bytes()
    (folder / "jpg" / "image_00002.jpg").unlink()
    with pytest.raises(ValueError, match=r"jpg holds 2 of the 3 images that imagelabels.mat labels"):
        check_dataset("flowers102", tmp_path)
    shutil.rmtree(folder / "jpg")
    (folder / "102flowers.tgz").write_bytes(whole[:2600])
    with pytest.raises(ValueError, match=r"102flowers\.tgz is damaged"):
        flowers102(tmp_path, image_size=8)
    assert not (folder / "jpg").exists()
    (folder / "102flowers.tgz").write_bytes(whole)
    assert len(flowers102(tmp_path, image_size=8)) == 3 and not (folder / "jpg.part").exists()


def test_labels_are_optional(tmp_path: Path) -> None:
    (make(tmp_path) / "imagelabels.mat").unlink()
    assert flowers102(tmp_path, image_size=8).factor_space is None


def test_missing_or_damaged_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"102flowers.tgz is missing: run `unbraid data download flowers102`"
    ):
        flowers102(tmp_path)
    folder = make(tmp_path)
    savemat(folder / "imagelabels.mat", {"labels": np.array([[5, 103, 1]])})
    with pytest.raises(ValueError, match=r"imagelabels.mat is damaged.*a kind from 1 to 102"):
        flowers102(tmp_path)
    (folder / "jpg" / "image_00002.jpg").write_bytes(b"no picture")
    with pytest.raises(ValueError, match=r"image_00002.jpg cannot be read as an image"):
        flowers102(tmp_path)
    with pytest.raises(ValueError, match="at least 1 pixel"):
        flowers102(tmp_path, image_size=0)


def test_an_archive_that_expands_far_beyond_its_size_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "flowers102"
    folder.mkdir()
    (tmp_path / "zeros").write_bytes(bytes(2_000_000))
    with tarfile.open(folder / "102flowers.tgz", "w:gz") as archive:
        archive.add(tmp_path / "zeros", "jpg/image_00001.jpg")
    with pytest.raises(ValueError, match="its images have 2000000 bytes, far more than the archive"):
        flowers102(tmp_path)
    assert not (folder / "jpg").exists()
