"""Arrays in memory and in files, src/unbraid/data/arrays.py."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.data.arrays import from_arrays, from_npz
from unbraid.data.draws import PairDraw

RANDOM = np.random.default_rng(0)
GRAY = RANDOM.integers(0, 256, (6, 8, 8), dtype=np.uint8)
COLOR = RANDOM.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)
ROWS = torch.arange(6)


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        (GRAY, GRAY[:, None] / 255),
        (COLOR, COLOR.transpose(0, 3, 1, 2) / 255),
        (COLOR.transpose(0, 3, 1, 2), COLOR.transpose(0, 3, 1, 2) / 255),
        (COLOR / 255, COLOR.transpose(0, 3, 1, 2) / 255),
        (GRAY.astype(np.int64), GRAY[:, None] / 255),
        (GRAY > 100, (GRAY > 100)[:, None] * 1.0),
        ((GRAY > 100).astype(np.uint8), (GRAY > 100)[:, None] * 1.0),
        (torch.from_numpy(GRAY), GRAY[:, None] / 255),
        (np.zeros((6, 12, 9, 9), np.uint8), np.zeros((6, 12, 9, 9))),
        (np.zeros((6, 9, 9, 12), np.uint8), np.zeros((6, 12, 9, 9))),
        (np.arange(12.0).reshape(6, 2) - 5, np.arange(12.0).reshape(6, 2) - 5),
    ],
)
def test_every_layout_comes_out_the_same(images: Any, expected: np.ndarray) -> None:
    seen = from_arrays(images).observe(ROWS)
    assert_close(seen, torch.from_numpy(expected).float())
    assert seen.is_contiguous()


def test_factors_need_not_cover_the_grid() -> None:
    factors = np.array([[0, 0], [0, 2], [1, 2], [1, 2], [2, 0], [0, 2]])
    dataset = from_arrays(GRAY, factors, ["color", "digit"], "own")
    assert dataset.factor_space.sizes == (3, 3)
    assert len(dataset.factor_space) == 4
    assert_close(dataset.factors(ROWS), torch.from_numpy(factors))
    batch = PairDraw("exactly", k=1)(dataset, 200, torch.Generator().manual_seed(0), torch.tensor(0))
    assert_close((batch.factors != batch.factors2).sum(1), torch.ones(200, dtype=torch.long))


def test_labels_are_one_more_factor() -> None:
    labels = np.array([0, 1, 1, 0, 2, 2])
    dataset = from_arrays(GRAY, labels=labels)
    assert dataset.factor_space.names == ("label",)
    assert_close(dataset.labels_and_nuisances(dataset.factors(ROWS))[0], torch.from_numpy(labels))
    both = from_arrays(GRAY, np.arange(6)[:, None] % 2, labels=labels)
    assert both.factor_space.names == ("factor_0", "label")
    named = from_arrays(GRAY, labels[:, None], ["label"])
    assert named.label == "label"


def test_an_npz_file_equals_its_arrays(tmp_path: Path) -> None:
    factors, labels = np.arange(12).reshape(6, 2) % 4, np.arange(6) % 3
    path = tmp_path / "mine.npz"
    np.savez(path, images=COLOR, factors=factors, names=np.array(["a", "b"]), labels=labels, extra=labels)
    dataset = from_npz(path)
    assert dataset.name == "mine"
    assert dataset.factor_space.names == ("a", "b", "label")
    assert_close(dataset.factors(ROWS), torch.from_numpy(np.concatenate([factors, labels[:, None]], 1)))
    np.savez(path, images=GRAY)
    assert from_npz(str(path)).factor_space is None


NAN = np.where(np.arange(64).reshape(1, 8, 8) == 3, np.nan, 0.5).repeat(6, 0)
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "nan": (
        {"images": NAN},
        "has pixels that are not finite .* first in row 0: repair or remove the image",
    ),
    "infinite rows": ({"images": np.array([[1.0], [np.inf]])}, "not finite .* in row 1: .*--impute mean"),
    "range": ({"images": COLOR * 1.0}, "floats from 0 to 1; got float64 from"),
    "negative": ({"images": GRAY.astype(int) - 300}, "from 0 to 255 or floats"),
    "shape": ({"images": np.zeros(5)}, r"got \(5,\)"),
    "deep": ({"images": np.zeros((2, 2, 2, 2, 2))}, r"got \(2, 2, 2, 2, 2\)"),
    "empty": ({"images": np.zeros((0, 8, 8))}, r"got \(0, 8, 8\)"),
    "text": ({"images": np.array([["a"]])}, "must hold numbers"),
    "too few factors": ({"images": GRAY, "factors": np.zeros((5, 2), int)}, r"shape \(6, k\)"),
    "flat factors": ({"images": GRAY, "factors": np.zeros(6, int)}, r"shape \(6, k\)"),
    "float factors": ({"images": GRAY, "factors": np.zeros((6, 1))}, "whole numbers from 0 on; got float64"),
    "negative factors": ({"images": GRAY, "factors": np.full((6, 1), -1)}, "whole numbers from 0 on"),
    "huge factors": ({"images": GRAY, "factors": np.full((6, 2), 2**40)}, "too many combinations"),
    "no factors": ({"images": GRAY, "factors": np.zeros((6, 0), int)}, r"shape \(6, k\)"),
    "names": ({"images": GRAY, "factors": np.zeros((6, 2), int), "names": ["a"]}, "2 different names"),
    "same names": ({"images": GRAY, "factors": np.zeros((6, 2), int), "names": ["a", "a"]}, "2 different"),
    "labels": ({"images": GRAY, "labels": np.zeros((6, 2), int)}, "one label for each"),
    "few factors with labels": (
        {"images": GRAY, "factors": np.zeros((5, 2), int), "labels": np.zeros(6, int)},
        r"shape \(6, k\)",
    ),
}
mistakes = pytest.mark.parametrize(("arrays", "sentence"), MISTAKES.values(), ids=MISTAKES)


@mistakes
def test_mistakes_in_arrays_get_one_sentence(arrays: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        from_arrays(**arrays)
    assert "\n" not in str(caught.value)


@mistakes
def test_mistakes_in_npz_files_name_the_file(tmp_path: Path, arrays: dict[str, Any], sentence: str) -> None:
    np.savez(tmp_path / "mine.npz", **arrays)
    with pytest.raises(ValueError, match=sentence) as caught:
        from_npz(tmp_path / "mine.npz")
    assert "mine" in str(caught.value)
    assert "\n" not in str(caught.value)


def _pickled(path: Path) -> None:
    np.savez(path, images=np.array([{}], dtype=object))


def _cut(path: Path) -> None:
    np.savez(path, images=GRAY)
    path.write_bytes(path.read_bytes()[:200])


def _no_images(path: Path) -> None:
    np.savez(path, pictures=GRAY)


def _one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, GRAY)


def _other_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("images.npy", b"nonsense")


def _damaged(path: Path) -> None:
    np.savez_compressed(path, images=GRAY)
    content = bytearray(path.read_bytes())
    content[200:210] = bytes(10)
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_pickled, "Python objects"),
        (_cut, "mine.npz is no .npz file, or cut short"),
        (_no_images, "no array `images`, only pictures"),
        (_one_array, "mine.npz is no .npz file"),
        (_other_zip, "it does not begin with the header of an array"),
        (_damaged, "mine.npz cannot be read as an .npz of images"),
        (lambda path: path.write_bytes(b""), "mine.npz is no .npz file"),
        (lambda path: path.write_text("hello"), "mine.npz is no .npz file"),
    ],
)
def test_files_that_are_not_npz_files(tmp_path: Path, spoil: Callable[[Path], None], reason: str) -> None:
    spoil(tmp_path / "mine.npz")
    with pytest.raises(ValueError, match=reason) as caught:
        from_npz(tmp_path / "mine.npz")
    assert "\n" not in str(caught.value)
    assert "allow_pickle" not in str(caught.value)


def test_an_npy_file_is_images_or_rows_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.npy"
    for content in (GRAY, np.arange(6.0).reshape(3, 2)):
        np.save(path, content)
        assert_close(from_npz(path).observe(torch.arange(3)), from_arrays(content).observe(torch.arange(3)))
    assert from_npz(path).name == "mine"
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"mine\.npy cannot be read as an \.npy.*Python objects"):
        from_npz(path)
    for spoil in (_cut, lambda path: path.write_bytes(b"")):
        spoil(path)
        with pytest.raises(ValueError, match=r"mine\.npy cannot be read as an \.npy"):
            from_npz(path)


def test_a_missing_npz_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        from_npz(tmp_path / "missing.npz")


def test_rows_with_nuisances_from_an_npz_file(tmp_path: Path) -> None:
    rows, labels, nuisances = np.arange(8.0).reshape(4, 2), np.array([0, 1, 1, 0]), np.array([2, 0, 1, 1])
    np.savez(tmp_path / "table.npz", rows=rows, labels=labels, nuisances=nuisances)
    dataset = from_npz(tmp_path / "table.npz")
    assert (dataset.label, dataset.nuisances) == ("label", ("nuisance",))
    found = dataset.labels_and_nuisances(dataset.factors(torch.arange(4)))
    assert found[0].tolist() == labels.tolist() and found[1][:, 0].tolist() == nuisances.tolist()
    two = from_arrays(rows, nuisances=np.stack([labels, nuisances], 1))
    assert two.nuisances == ("nuisance_0", "nuisance_1") and two.label is None
    with pytest.raises(ValueError, match=r"nuisances of shape \(4,\) or \(4, m\)"):
        from_arrays(rows, nuisances=nuisances[:2])
    np.savez(tmp_path / "both.npz", rows=rows, images=rows)
    with pytest.raises(ValueError, match="both `images` and `rows`"):
        from_npz(tmp_path / "both.npz")
