"""Arrays from `.npy` and `.npz` files, whose headers are checked before anything else is read.

A header that announces Python objects, more bytes than the file has, or more than may be read into memory is refused.
"""

import lzma
import math
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np

from unbraid.data.size_limit import check_size

# What damaged files raise in zipfile, tarfile, gzip, NumPy, h5py and SciPy.
DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, ValueError, KeyError, IndexError, TypeError, OverflowError, RuntimeError),
)


class Header(NamedTuple):
    """What an npy stream says about its array, and where its data starts."""

    shape: tuple[int, ...]
    dtype: np.dtype
    is_fortran: bool
    start: int

    @property
    def num_bytes(self) -> int:
        """The number of bytes of the data."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: Any) -> Header:
    """Reads the header of an npy stream; raises ValueError for Python objects and for what is no header."""
    try:
        version = np.lib.format.read_magic(stream)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, is_fortran, dtype = read(stream)
    except (*DAMAGE, SyntaxError, TokenError) as error:  # NumPy evaluates the header as Python's literals
        raise ValueError("it does not begin with the header of an array") from error
    if dtype.hasobject:
        raise ValueError("it holds Python objects, not numbers; save arrays of numbers or text")
    if min(shape, default=0) < 0:
        raise ValueError(f"its header has the impossible shape {shape}")
    return Header(shape, dtype, is_fortran, stream.tell())


def read_npy(path: Path) -> np.ndarray:
    """The array of an npy file."""
    with path.open("rb") as file:
        if zipfile.is_zipfile(path):
            raise ValueError("it is an .npz file: rename it to end in .npz")
        header, size = read_header(file), path.stat().st_size
        _check_length(header, size)
        check_size(path, header.num_bytes)
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False)


def npz_names(path: Path) -> list[str]:
    """The names of the arrays in an npz file."""
    with zipfile.ZipFile(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def read_npz(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Arrays of an npz file, by name; none is read before the headers of all are checked."""
    with zipfile.ZipFile(path) as archive:
        entries = [npz_entry(archive, name) for name in names]
        needed = 0
        for entry in entries:
            with archive.open(entry) as stream:
                header = read_header(stream)
            _check_length(header, entry.file_size)
            check_size(path, header.num_bytes, entry.compress_size)
            needed += header.num_bytes
        check_size(path, needed)
        arrays = {}
        for name, entry in zip(names, entries, strict=True):
            with archive.open(entry) as stream:
                arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
                if stream.read(1):  # at the end, the checksum is compared
                    raise ValueError(f"`{name}` holds more bytes than its header says")
    return arrays


def npz_entry(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """The entry of an array in an npz archive."""
    try:
        return archive.getinfo(f"{name}.npy")
    except KeyError:
        present = ", ".join(each.removesuffix(".npy") for each in archive.namelist())
        raise ValueError(f"it has no array `{name}`, only {present or 'nothing'}") from None


def _check_length(header: Header, size: int) -> None:
    if header.start + header.num_bytes > size:
        raise ValueError(
            f"its header announces {header.num_bytes:,} bytes, and it holds {max(0, size - header.start):,}"
        )
