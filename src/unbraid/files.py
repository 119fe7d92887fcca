"""Files that are written whole or not at all, as JSON in UTF-8 or as safetensors, and locks between processes."""

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import BaseFileLock, FileLock, Timeout
from safetensors.torch import load as load_tensors
from safetensors.torch import save as tensor_bytes
from torch import Tensor

PART = ".part"  # ending of files that are being written


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a whole file or nothing: a reader of `path` finds either the old content or the new.

    The content also survives a power failure once this function has returned. Two processes may write the same file;
    the last one wins.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}{PART}")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise OSError(
            f"{path} could not be written ({error.strerror or error}); its old content is unchanged. Free some disk "
            "space, or choose an existing folder with write permission."
        ) from error
    sync_folder(path.parent)


def append_line(path: Path, line: str) -> None:
    """Appends a line; a reader may find it incomplete after a crash."""
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise OSError(
            f"{path} could not be extended ({error.strerror or error}); its earlier lines are unchanged. Free some "
            "disk space, or choose an existing folder with write permission."
        ) from error


def sync_file(path: Path) -> None:
    """Makes what was appended to a file survive a power failure."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Makes renames in a folder survive a power failure, where the file system can do that."""
    with suppress(OSError):  # some network file systems and Windows cannot open or sync a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_partial_files(folder: Path) -> None:
    """Deletes what killed processes have left half-written; for a process that has locked the folder."""
    for path in folder.glob(f".*{PART}"):
        with suppress(OSError):
            path.unlink()


def write_json(path: Path, content: Any) -> None:
    """Writes indented JSON with the keys in the given order; raises for NaN and infinite numbers, which JSON lacks."""
    try:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise ValueError(
            f"{path} cannot be written: its content has a NaN or infinite number. Remove the number first."
        ) from None
    # A file name that is no UTF-8 holds surrogates, which become JSON's own escapes here.
    write_atomically(path, (text + "\n").encode("utf-8", "backslashreplace"))


def read_json(path: Path) -> Any:
    """Reads JSON; raises ValueError for a damaged file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply. Restore it from a copy.") from None
    except ValueError as error:  # also of UTF-8
        raise ValueError(f"{path} is not readable as JSON ({error}). Restore it from a copy.") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Writes named tensors as safetensors; equal tensors give equal bytes."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, tensor_bytes(plain))


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Reads named tensors from safetensors; raises ValueError for a damaged file."""
    try:
        return load_tensors(path.read_bytes())
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(
            f"{path} is not a complete safetensors file ({error}). Restore it or train again."
        ) from None


@contextmanager
def locked(path: Path, *, message: str, timeout: float = 0.0) -> Iterator[None]:
    """Holds a lock file; raises ValueError with the message if another process keeps it for `timeout` seconds.

    The operating system releases the locks of a process that dies.
    """
    lock = acquire_lock(path, message=message, timeout=timeout)
    try:
        yield
    finally:
        lock.release()


def acquire_lock(path: Path, *, message: str, timeout: float = 0.0) -> BaseFileLock:
    """Acquires the lock that `locked` holds, until `release` is called or the process ends."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=timeout)
    except Timeout:
        raise ValueError(message) from None
    except OSError as error:
        raise OSError(
            f"{path.parent} cannot be locked ({error.strerror or error}). Choose an existing folder with write "
            "permission."
        ) from error
    return lock
