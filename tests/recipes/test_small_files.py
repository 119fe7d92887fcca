"""Recipes run at quick on small files in the formats of datasets that are large downloads."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.data.test_mnist import idx
from unbraid.recipes import read_recipe
from unbraid.studies import replace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data root with 60 and 60 photographs of STL-10's format, and 90 and 30 digits of EMNIST's."""
    rng = np.random.default_rng(0)
    (tmp_path / "stl10").mkdir()
    for split in ("train", "test"):
        rng.integers(0, 256, (60, 3, 96, 96), dtype=np.uint8).tofile(tmp_path / "stl10" / f"{split}_X.bin")
        (np.arange(60, dtype=np.uint8) % 10 + 1).tofile(tmp_path / "stl10" / f"{split}_y.bin")
    (tmp_path / "emnist").mkdir()
    with zipfile.ZipFile(tmp_path / "emnist" / "gzip.zip", "w") as archive:
        for split, count in (("train", 90), ("test", 30)):
            digits = rng.integers(0, 256, (count, 28, 28))
            archive.writestr(f"gzip/emnist-digits-{split}-images-idx3-ubyte.gz", idx(digits))
            archive.writestr(f"gzip/emnist-digits-{split}-labels-idx1-ubyte.gz", idx(np.arange(count) % 10))
    return tmp_path


def test_digits_on_photographs_of_stl10(root: Path) -> None:
    [plan] = read_recipe("without-autoencoding/figure5", "quick").runs
    plan = replace(plan, backgrounds="stl10", steps=2, batch_size=4, pairs=50)
    run = plan.run(root / "run", root=root, device="cpu", quiet=True)
    assert run.finished and run.data_name == "mnist-stl10-dc-bc-bundled-stl10-train"


def test_digits_of_emnist(root: Path) -> None:
    plans = read_recipe("augmented-gin/emnist", "quick").runs
    assert {plan.method for plan in plans} == {"augmented-gin", "gin"}
    plan = replace(plans[0], steps=1, batch_size=2)
    run = plan.run(root / "run", root=root, device="cpu", quiet=True)
    assert run.finished and run.data_name == "emnist"
