"""Kinds of files by their first bytes, src/unbraid/data/file_kind.py."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from tests.data.file_server import PAGE
from unbraid.data.file_kind import check_head, check_kind, kind


def written(folder: Path) -> dict[str, Path]:
    """A file of every kind, by its ending."""
    endings = ("npz", "zip", "npy", "gz", "tgz", "h5", "mat", "jpg", "png", "tar", "csv")
    files = {ending: folder / f"some.{ending}" for ending in endings} | {
        "idx": folder / "t10k-labels-idx1-ubyte"
    }
    np.savez(files["npz"], a=np.arange(3))
    with zipfile.ZipFile(files["zip"], "w") as archive:
        archive.writestr("a", "b")
    np.save(files["npy"], np.arange(3))
    files["gz"].write_bytes(gzip.compress(b"a"))
    for ending, mode in (("tgz", "w:gz"), ("tar", "w")):
        with tarfile.open(files[ending], mode) as archive:  # type: ignore[call-overload]
            archive.add(files["npy"], "some.npy")
    with h5py.File(files["h5"], "w") as file:
        file["a"] = np.arange(3)
    savemat(files["mat"], {"a": np.arange(3)})
    for ending in ("jpg", "png"):
        Image.new("RGB", (8, 8)).save(files[ending])
    files["csv"].write_text("\ufeffMouseID,DYRK1A_N\n309_1,0.5\n", encoding="utf-8")
    files["idx"].write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
    return files


def test_every_kind_is_recognized(tmp_path: Path) -> None:
    for path in written(tmp_path).values():
        check_kind(path, path.name)


def test_no_web_page_passes_for_data(tmp_path: Path) -> None:
    for path in written(tmp_path).values():
        for content, name in (
            (PAGE, "a web page titled 'Sign in'"),
            (b"\n <html><body>404", "a web page"),
            (b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", "an XML message"),
            (b'{"error": "Repository not found"}', "a JSON message"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "a Git LFS pointer"),
            (b"Not found", "plain text"),
            (b"", "an empty file"),
        ):
            path.write_bytes(content)
            with pytest.raises(ValueError, match=f"it is {name}.*, not a"):
                check_kind(path, path.name)


def test_a_page_is_refused_also_where_the_ending_says_nothing() -> None:
    check_head(b"anything", "file.bin")
    for content in (PAGE, b"<Error>", b"version https://git-lfs", b""):
        with pytest.raises(ValueError, match="not the file"):
            check_head(content, "file.bin")


def test_an_archive_without_its_end_is_cut_short(tmp_path: Path) -> None:
    path = written(tmp_path)["npz"]
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="a zip archive that is cut short"):
        check_kind(path, path.name)


def test_bytes_of_no_kind_have_a_name() -> None:
    assert kind(io.BytesIO(b"\x01\x02\x00\x03").read()) == "a file of unknown kind"
