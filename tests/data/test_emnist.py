"""EMNIST's digits, src/unbraid/data/emnist.py."""

import importlib
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.data.test_mnist import idx
from unbraid.data.emnist import emnist
from unbraid.data.registry import open_dataset


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data root with a file of the official form, of two training digits and one to test."""
    (tmp_path / "emnist").mkdir()
    pictures = np.zeros((2, 28, 28))
    pictures[0, 3, 20] = 255  # row 3 of what is stored, column 20
    with zipfile.ZipFile(tmp_path / "emnist" / "gzip.zip", "w") as archive:
        for part, count in (("train", 2), ("test", 1)):
            archive.writestr(f"gzip/emnist-digits-{part}-images-idx3-ubyte.gz", idx(pictures[:count]))
            archive.writestr(f"gzip/emnist-digits-{part}-labels-idx1-ubyte.gz", idx(np.array([7, 4])[:count]))
    return tmp_path


def test_images_are_upright(root: Path) -> None:
    dataset = emnist(root)
    assert len(dataset) == 2 and dataset.shape == (1, 28, 28) and dataset.counts["classes"] == 10
    x = dataset.observe(torch.tensor([0]))
    assert x[0, 0, 20, 3] == 1 and x.sum() == 1
    assert_close(dataset.labels_and_nuisances(dataset.factors(torch.arange(2)))[0], torch.tensor([7, 4]))


def test_a_smaller_file_of_the_format_is_read_and_images_without_labels_are_not(
    tmp_path: Path, root: Path
) -> None:
    module = importlib.import_module("unbraid.data.emnist")
    assert len(emnist(root)) == 2 and module.COUNTS["train"] == 240_000
    with zipfile.ZipFile(root / "emnist" / "gzip.zip", "w") as archive:
        archive.writestr("gzip/emnist-digits-train-images-idx3-ubyte.gz", idx(np.zeros((3, 28, 28))))
        archive.writestr("gzip/emnist-digits-train-labels-idx1-ubyte.gz", idx(np.array([7, 4])))
    with pytest.raises(
        ValueError, match=r"its shape should be \(2, 28, 28\), but its header has \(3, 28, 28\)"
    ):
        emnist(root)


def test_splits_have_different_names(root: Path) -> None:
    assert open_dataset("emnist", root=root, split="test").name == "emnist-test"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"gzip\.zip is missing: run `unbraid data download emnist`"):
        emnist(tmp_path)


def test_a_damaged_file_is_named(root: Path) -> None:
    (root / "emnist" / "gzip.zip").write_bytes(b"PK nothing")
    with pytest.raises(ValueError, match="damaged, cut short or of another kind"):
        emnist(root)


def test_an_entry_that_announces_too_much_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "emnist").mkdir()
    with zipfile.ZipFile(tmp_path / "emnist" / "gzip.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("gzip/emnist-digits-test-images-idx3-ubyte.gz", bytes(70_000_000))
    with pytest.raises(ValueError, match="has 70000000 bytes for an array of 31360000"):
        emnist(tmp_path, split="test")
