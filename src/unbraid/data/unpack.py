"""Arrays from official files, large ones as memory maps.

A large uncompressed array is mapped from its file. A compressed one is unpacked once into the cache folder and mapped
from there, which reads a random batch a hundred times faster than the compressed file. Without room in the cache
folder, it is read into memory.
"""

import hashlib
import io
import math
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

from unbraid.data.numpy_files import DAMAGE, npz_entry, read_header
from unbraid.data.numpy_files import read_npz as read_npz_arrays
from unbraid.data.root import cache_folder
from unbraid.data.size_limit import TooLargeError, check_size
from unbraid.progress import transient_bar

LARGE = 1 << 28  # arrays of at least this many bytes are mapped
CHUNK = 1 << 24


@contextmanager
def explain_read_errors(path: Path) -> Iterator[None]:
    """Turns any error of reading a file into one sentence that names the file."""
    try:
        yield
    except TooLargeError:
        raise
    except DAMAGE as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else "it ends too early"
        raise ValueError(
            f"{path} is damaged, cut short or of another kind ({reason}): delete it and download it again."
        ) from None


def read_npz(path: Path, member: str) -> np.ndarray:
    """An array of an npz file; pickles are never loaded."""
    with explain_read_errors(path):
        return read_npz_arrays(path, [member])[member]


def read_first(path: Path, member: str, shape: tuple[int, ...], rows: int) -> UInt8[np.ndarray, "..."]:
    """The first rows of a uint8 array of the given shape in an npz file."""
    with explain_read_errors(path), zipfile.ZipFile(path) as archive:
        with archive.open(npz_entry(archive, member)) as stream:
            header = read_header(stream)
            _expect(path, member, header.shape, header.dtype, shape)
            content = stream.read(rows * math.prod(shape[1:]))
        return np.frombuffer(content, np.uint8).reshape(-1, *shape[1:])


def map_npz(path: Path, member: str, shape: tuple[int, ...]) -> UInt8[Tensor, "..."]:
    """A uint8 array of the given shape from an npz file."""
    with explain_read_errors(path), zipfile.ZipFile(path) as archive:
        info = npz_entry(archive, member)
        with archive.open(info) as stream:
            header = read_header(stream)
        if header.is_fortran:
            raise ValueError("its array is stored column by column")
    _expect(path, member, header.shape, header.dtype, shape)
    if math.prod(shape) < LARGE:
        return torch.from_numpy(read_npz(path, member))
    if info.compress_type == zipfile.ZIP_STORED:
        with explain_read_errors(path):
            start = header.start + _data_offset(path, info)
            return torch.from_numpy(np.memmap(path, np.uint8, mode="c", offset=start, shape=shape))

    def chunks() -> Iterator[bytes]:
        with explain_read_errors(path), zipfile.ZipFile(path) as archive, archive.open(info) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk

    mapped = _unpacked(path, member, shape, chunks())
    return torch.from_numpy(read_npz(path, member) if mapped is None else mapped)


def read_hdf5(path: Path, member: str) -> np.ndarray:
    """An array of an HDF5 file."""
    import h5py

    with explain_read_errors(path), h5py.File(path) as file:
        stored = _dataset(file, member)
        check_size(path, stored.size * stored.dtype.itemsize, stored.id.get_storage_size())
        return stored[...]


def map_hdf5(path: Path, member: str, shape: tuple[int, ...]) -> UInt8[Tensor, "..."]:
    """A uint8 array of the given shape from an HDF5 file."""
    import h5py

    with explain_read_errors(path), h5py.File(path) as file:
        stored = _dataset(file, member)
        stored_shape, dtype = stored.shape, stored.dtype
        check_size(path, math.prod(stored.chunks or ()) * dtype.itemsize)  # a chunk is read at once
    _expect(path, member, stored_shape, dtype, shape)

    def chunks() -> Iterator[bytes]:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": shape})
        yield header.getvalue()
        rows = max(1, CHUNK // math.prod(shape[1:]))
        with explain_read_errors(path), h5py.File(path) as file:
            stored: Any = file[member]
            for start in range(0, len(stored), rows):
                yield stored[start : start + rows].tobytes()

    mapped = None if math.prod(shape) < LARGE else _unpacked(path, member, shape, chunks())
    return torch.from_numpy(read_hdf5(path, member) if mapped is None else mapped)


def _dataset(file: Any, member: str) -> Any:
    """A dataset of numbers that is stored in the HDF5 file itself, and not in others that it points to."""
    import h5py

    if isinstance(file.get(member, getlink=True), h5py.ExternalLink):
        raise ValueError(f"`{member}` is a link to another file")
    stored = file[member]
    if not isinstance(stored, h5py.Dataset) or stored.dtype.kind not in "biuf":
        raise ValueError(f"`{member}` is no array of numbers")
    if stored.external or stored.is_virtual:
        raise ValueError(f"`{member}` is stored in other files")
    return stored


def _expect(path: Path, member: str, stored_shape: tuple, dtype: np.dtype, shape: tuple[int, ...]) -> None:
    if tuple(stored_shape) != shape or dtype != np.uint8:
        raise ValueError(
            f"{path} should hold `{member}` of shape {shape} in uint8, but has {tuple(stored_shape)} in "
            f"{dtype}: put the official file there."
        )


def _data_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """The offset of a stored zip member's data, after its local header of 30 bytes, name and extras."""
    with path.open("rb") as file:
        file.seek(info.header_offset + 26)
        name, extra = np.frombuffer(file.read(4), "<u2")
    return info.header_offset + 30 + int(name) + int(extra)


def _unpacked(path: Path, member: str, shape: tuple[int, ...], chunks: Iterator[bytes]) -> np.ndarray | None:
    """The unpacked array, mapped from the cache folder; None if the folder cannot hold it."""
    stat = path.stat()
    stamp = hashlib.sha256(f"{member} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()[:12]
    target = cache_folder() / "unpacked" / f"{path.stem}-{stamp}.npy"
    if not target.exists():
        size = math.prod(shape)
        partial: Path | None = None
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(target.parent).free < 1.1 * size:
                return None
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f"{path.stem}-", suffix=".part")
            partial = Path(name)
            with open(handle, "wb") as out, transient_bar(f"unpacking {path.name} once", size) as advance:
                for chunk in chunks:
                    out.write(chunk)
                    advance(len(chunk))
                out.flush()
                os.fsync(out.fileno())
            for older in target.parent.glob(f"{path.stem}-*.npy"):
                if older != target:
                    older.unlink(missing_ok=True)
            os.replace(partial, target)
        except OSError:  # no room or no permission: the caller reads into memory
            return None
        finally:
            if partial is not None:
                partial.unlink(missing_ok=True)
    with explain_read_errors(target):
        mapped = np.load(target, mmap_mode="c")
    _expect(target, member, mapped.shape, mapped.dtype, shape)
    return mapped
