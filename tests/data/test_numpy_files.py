"""Arrays from npy and npz files, hostile ones too, src/unbraid/data/numpy_files.py."""

import io
import random
import resource
import struct
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from unbraid.data.numpy_files import DAMAGE, npz_names, read_npy, read_npz
from unbraid.data.size_limit import TooLargeError

ARRAYS = {
    "bytes": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "text": np.array(["β", "scale"]),
    "empty": np.zeros((0, 3)),
    "number": np.array(3),
}


def header(shape: tuple[int, ...], descr: str = "|u1") -> bytes:
    """The header of an npy file that announces an array."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def packed(path: Path, content: bytes, name: str = "images.npy") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return path


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_are_read_as_numpy_reads_them(tmp_path: Path, save) -> None:  # noqa: ANN001
    path = tmp_path / "some.npz"
    save(path, **ARRAYS)
    assert npz_names(path) == list(ARRAYS)
    for name, array in read_npz(path, list(ARRAYS)).items():
        np.testing.assert_array_equal(array, ARRAYS[name], strict=True)
    for array in ARRAYS.values():
        np.save(tmp_path / "some.npy", array)
        np.testing.assert_array_equal(read_npy(tmp_path / "some.npy"), array, strict=True)


def test_objects_are_refused_in_our_own_words(tmp_path: Path) -> None:
    np.save(tmp_path / "evil.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "evil.npz", images=np.array([{}], dtype=object))
    (tmp_path / "pickle.npy").write_bytes(b"\x80\x04\x95\x00.")
    for read in (
        lambda: read_npy(tmp_path / "evil.npy"),
        lambda: read_npz(tmp_path / "evil.npz", ["images"]),
    ):
        with pytest.raises(ValueError, match=r"^it holds Python objects, not numbers") as caught:
            read()
        assert "pickle" not in str(caught.value)
    with pytest.raises(ValueError, match=r"^it does not begin with the header of an array$"):
        read_npy(tmp_path / "pickle.npy")


def test_a_header_of_any_length_gets_our_own_words(tmp_path: Path) -> None:
    """NumPy would advise to trust the file."""
    text = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }".ljust(20_000) + b"\n"
    (tmp_path / "long.npy").write_bytes(b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text + b"x")
    with pytest.raises(ValueError, match=r"^it does not begin with the header of an array$"):
        read_npy(tmp_path / "long.npy")


@pytest.mark.parametrize("shape", [(10**12,), (2**40, 2**40), (5,)])
def test_a_header_that_announces_more_than_the_file_has_is_refused(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    (tmp_path / "some.npy").write_bytes(header(shape) + b"abcd")
    path = packed(tmp_path / "some.npz", header(shape) + b"abcd")
    for read in (lambda: read_npy(tmp_path / "some.npy"), lambda: read_npz(path, ["images"])):
        with pytest.raises(ValueError, match=r"^its header announces [\d,]+ bytes, and it holds 4$"):
            read()


def test_an_impossible_shape_is_refused(tmp_path: Path) -> None:
    (tmp_path / "some.npy").write_bytes(header((-1,)) + b"abcd")
    with pytest.raises(ValueError, match=r"impossible shape \(-1,\)"):
        read_npy(tmp_path / "some.npy")


def test_more_bytes_than_the_header_says_are_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "some.npz", header((3,)) + b"abcd")
    with pytest.raises(ValueError, match="`images` holds more bytes than its header says"):
        read_npz(path, ["images"])


def test_an_archive_bomb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """As much as zeros shrink: 300 MB in 300 kB, in a process that could not hold them."""
    path, size = tmp_path / "bomb.npz", 300_000_000
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("images.npy", "w") as stream,
    ):
        stream.write(header((size // 100, 100)))
        for _ in range(30):
            stream.write(bytes(size // 30))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(
        TooLargeError, match=r"expands from .* KB to 300.0 MB: such a file is constant or made to fill"
    ):
        read_npz(path, ["images"])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_the_sum_of_the_arrays_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNBRAID_MAX_READ", "1KB")
    np.savez(tmp_path / "some.npz", a=np.zeros(100), b=np.zeros(100))
    assert read_npz(tmp_path / "some.npz", ["a"])["a"].shape == (100,)
    with pytest.raises(TooLargeError):
        read_npz(tmp_path / "some.npz", ["a", "b"])


def test_a_missing_array_and_an_archive_of_the_wrong_name_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "some.npz", a=np.zeros(1))
    with pytest.raises(ValueError, match=r"it has no array `images`, only a$"):
        read_npz(tmp_path / "some.npz", ["images"])
    (tmp_path / "some.npz").rename(tmp_path / "some.npy")
    with pytest.raises(ValueError, match=r"rename it to end in \.npz"):
        read_npy(tmp_path / "some.npy")


def test_damaged_files_raise_nothing_but_what_callers_explain(tmp_path: Path) -> None:
    """400 files with one to five changed bytes or a cut, from a seed."""
    path = tmp_path / "some.npz"
    np.savez_compressed(path, **ARRAYS)
    np.save(tmp_path / "some.npy", ARRAYS["bytes"])
    generator = random.Random(0)
    for number in range(400):
        file = path if number % 2 else tmp_path / "some.npy"
        content = bytearray(original := file.read_bytes())
        for _ in range(generator.randint(1, 5)):
            content[generator.randrange(len(content))] = generator.randrange(256)
        if number % 3 == 0:
            del content[generator.randrange(len(content)) :]
        file.write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy's, of a header in Python 2's format
                read_npz(file, npz_names(file)) if number % 2 else read_npy(file)
        except DAMAGE as error:
            assert "allow_pickle" not in str(error)
        file.write_bytes(original)
