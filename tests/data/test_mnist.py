"""Handwritten digits, src/unbraid/data/mnist.py."""

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.data.mnist import (
    FILES,
    digits,
    digits_license,
    parse_idx,
    read_digits,
    read_idx,
    resolve_source,
    with_border,
)
from unbraid.data.root import data_root


def idx(values: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
    return gzip.compress(header + values.astype(np.uint8).tobytes())


def test_an_idx_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    values = np.arange(24).reshape(2, 3, 4)
    (tmp_path / "file.gz").write_bytes(idx(values))
    assert_close(read_idx(tmp_path / "file.gz", (2, 3, 4)), torch.from_numpy(values).to(torch.uint8))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (idx(np.zeros((2, 3))), r"its shape should be \(3, 2\), but its header has \(2, 3\)"),
        (idx(np.zeros(6)), "it is not an idx file of bytes"),
        (idx(np.zeros((3, 2)))[:-9], "damaged, cut short or of another kind"),
        (b"<html>", "damaged, cut short or of another kind"),
    ],
    ids=["shape", "kind", "cut", "page"],
)
def test_another_content_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "file.gz").write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        read_idx(tmp_path / "file.gz", (3, 2))


def test_bundled_digits_are_used_if_the_files_are_missing(tmp_path: Path) -> None:
    assert resolve_source("auto", tmp_path) == "bundled"
    train, test = digits(tmp_path), digits(tmp_path, split="test")
    assert (train.name, test.name) == ("bundled-digits", "bundled-digits-test")
    assert (len(train), len(test)) == (1438, 359)
    assert train.shape == (1, 28, 28) and train.label == "digit" and train.counts["classes"] == 10
    images, labels = read_digits(tmp_path, digits="bundled")
    assert int(images.max()) == 255 and not images[:, :4].any() and not images[:, :, -4:].any()
    assert_close(train.labels_and_nuisances(train.factors(torch.arange(1438)))[0], labels)
    assert torch.bincount(labels).min() > 100


def test_missing_files_are_named_when_mnist_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"train-images-idx3-ubyte\.gz is missing: run `unbraid data download"
    ):
        digits(tmp_path, digits="mnist")
    with pytest.raises(ValueError, match="digits must be auto, mnist, bundled; got digits='emnist'"):
        resolve_source("emnist", tmp_path)


def test_a_border_keeps_the_digit_in_the_middle() -> None:
    images = torch.randint(256, (2, 28, 28), dtype=torch.uint8)
    larger = with_border(images, 32)
    assert_close(larger[:, 2:-2, 2:-2], images)
    assert int(larger.sum()) == int(images.sum())
    with pytest.raises(ValueError, match="at least 28 pixels; got image_size=20"):
        with_border(images, 20)


def test_the_official_files() -> None:
    if not FILES.is_present():
        pytest.skip("MNIST is not under UNBRAID_DATA")
    FILES.verify(data_root() / "mnist")
    images, labels = read_digits(digits="mnist", split="test")
    assert images.shape == (10_000, 28, 28)
    assert labels[:5].tolist() == [7, 2, 1, 0, 4]
    assert torch.bincount(read_digits(digits="mnist")[1]).tolist()[:2] == [5923, 6742]


def test_bundled_digits_and_mnist_have_different_licenses(tmp_path: Path) -> None:
    assert "UCI" in digits_license("bundled") and "UCI" in digits(tmp_path).license
    assert digits_license("mnist") == "MNIST: CC BY-SA 3.0"
    assert digits_license("mnist", photographs=True).endswith("; the license of the photographs is unknown")


def test_a_file_that_expands_far_beyond_its_array_is_not_read_whole() -> None:
    content = gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 5]) + bytes(50_000_000))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"its header has \(5,\), in 14 bytes or more"):
        parse_idx(content, (5,))
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
