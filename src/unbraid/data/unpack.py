"""Arrays out of official files, large ones as memory maps.

A large array that lies plainly in its file is mapped where it is. A compressed one is unpacked once into the
user's cache folder and mapped there, which makes a random batch a hundred times quicker than reading the
compressed file; where there is no room for that, it is read into memory.
"""

import hashlib
import io
import math
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

from unbraid.data.progress import progress
from unbraid.data.root import cache_folder

LARGE = 1 << 28  # bytes from which an array is mapped, not read
CHUNK = 1 << 24


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Says in one sentence what is wrong when a file turns out not to be readable."""
    damage = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, ValueError, KeyError)
    try:
        yield
    except damage as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else "it ends too early"
        raise ValueError(
            f"{path} is damaged, cut short or of another kind ({reason}): delete it and get it again."
        ) from None


def read_npz(path: Path, member: str) -> np.ndarray:
    """A whole array of an npz; pickles are never read."""
    with readable(path), np.load(path, allow_pickle=False) as archive:
        return archive[member]


def map_npz(path: Path, member: str, shape: tuple[int, ...]) -> UInt8[Tensor, "..."]:
    """Bytes of the given shape from an npz."""
    with readable(path), zipfile.ZipFile(path) as archive:
        info = archive.getinfo(f"{member}.npy")
        with archive.open(info) as stream:
            found, kind, start = _header(stream)
    _expect(path, member, found, kind, shape)
    if math.prod(shape) < LARGE:
        return torch.from_numpy(read_npz(path, member))
    if info.compress_type == zipfile.ZIP_STORED:
        with readable(path):
            start += _data_offset(path, info)
            return torch.from_numpy(np.memmap(path, np.uint8, mode="c", offset=start, shape=shape))

    def chunks() -> Iterator[bytes]:
        with readable(path), zipfile.ZipFile(path) as archive, archive.open(info) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk

    kept = _kept(path, member, shape, chunks())
    return torch.from_numpy(read_npz(path, member) if kept is None else kept)


def read_hdf5(path: Path, member: str) -> np.ndarray:
    """A whole array of an HDF5 file."""
    import h5py

    with readable(path), h5py.File(path) as file:
        stored: Any = file[member]
        return stored[...]


def map_hdf5(path: Path, member: str, shape: tuple[int, ...]) -> UInt8[Tensor, "..."]:
    """Bytes of the given shape from an HDF5 file."""
    import h5py

    with readable(path), h5py.File(path) as file:
        stored: Any = file[member]
        found, kind = stored.shape, stored.dtype
    _expect(path, member, found, kind, shape)

    def chunks() -> Iterator[bytes]:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": shape})
        yield header.getvalue()
        rows = max(1, CHUNK // math.prod(shape[1:]))
        with readable(path), h5py.File(path) as file:
            stored: Any = file[member]
            for start in range(0, len(stored), rows):
                yield stored[start : start + rows].tobytes()

    kept = None if math.prod(shape) < LARGE else _kept(path, member, shape, chunks())
    return torch.from_numpy(read_hdf5(path, member) if kept is None else kept)


def _expect(path: Path, member: str, found: tuple, found_type: np.dtype, shape: tuple[int, ...]) -> None:
    if tuple(found) != shape or found_type != np.uint8:
        raise ValueError(
            f"{path} should hold `{member}` of shape {shape} in uint8, but has {tuple(found)} in "
            f"{found_type}: put the official file there."
        )


def _header(stream: Any) -> tuple[tuple[int, ...], np.dtype, int]:
    """Shape and type of the array in an npy stream, and where its bytes begin."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, kind = read(stream)
    if fortran:
        raise ValueError("its array is stored column by column")
    return shape, kind, stream.tell()


def _data_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Where the bytes of a stored zip member begin: after its local header of 30 bytes, name and extras."""
    with path.open("rb") as file:
        file.seek(info.header_offset + 26)
        name, extra = np.frombuffer(file.read(4), "<u2")
    return info.header_offset + 30 + int(name) + int(extra)


def _kept(path: Path, member: str, shape: tuple[int, ...], chunks: Iterator[bytes]) -> np.ndarray | None:
    """The unpacked array, mapped from the cache folder; None where it cannot be kept there."""
    stat = path.stat()
    stamp = hashlib.sha256(f"{member} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()[:12]
    kept = cache_folder() / "unpacked" / f"{path.stem}-{stamp}.npy"
    if not kept.exists():
        size = math.prod(shape)
        partial: Path | None = None
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(kept.parent).free < 1.1 * size:
                return None
            handle, name = tempfile.mkstemp(dir=kept.parent, prefix=f"{path.stem}-", suffix=".part")
            partial = Path(name)
            with open(handle, "wb") as out, progress(f"unpacking {path.name} once", size) as advance:
                for chunk in chunks:
                    out.write(chunk)
                    advance(len(chunk))
            for older in kept.parent.glob(f"{path.stem}-*.npy"):
                if older != kept:
                    older.unlink(missing_ok=True)
            os.replace(partial, kept)
        except OSError:  # no room, or no right to write: memory will do
            return None
        finally:
            if partial is not None:
                partial.unlink(missing_ok=True)
    with readable(kept):
        mapped = np.load(kept, mmap_mode="c")
    _expect(kept, member, mapped.shape, mapped.dtype, shape)
    return mapped
