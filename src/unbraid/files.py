"""Files that are written whole or not at all, as JSON in UTF-8 or as safetensors, and locks between processes.

JSON is read through a schema (`require_schema`). Safetensors carry a hash of their own bytes.
"""

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from filelock import BaseFileLock, FileLock, Timeout
from safetensors.torch import load as load_tensors
from safetensors.torch import save as tensor_bytes
from torch import Tensor

PART = ".part"  # ending of files that are being written
PARTIAL = f".*{PART}"  # names of files that are being written
MAX_DEPTH = 32  # of JSON
MAX_FLOAT = 1e300
RESTORE = "Restore it from a copy."
REWRITE = "Restore it or train again."
HASH_STARTS = b'{"__metadata__":{"sha256":"'  # at byte 8 of our safetensors files; 64 digits follow
NO_HASH = b"0" * 64  # in place of the hash while it is computed

Schema = Any  # see `require_schema`


class Whole(NamedTuple):
    """The schema of whole numbers in a range."""

    low: int = 0
    high: int = 2**53


ANY: Schema = object
TABLE: Schema = Ellipsis  # numbers, truth values, texts and nulls in nested lists
FILE: Schema = re.compile(r"(?!\.{1,2}$)([ -.0-\[\]-~]{1,255}|[^/\\\0]{1,63})")  # a file's name, never a path
SHA256: Schema = re.compile("[0-9a-f]{64}")


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
    for path in folder.glob(PARTIAL):
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


def read_json(path: Path, schema: Schema = ANY, *, remedy: str = RESTORE) -> Any:
    """Reads JSON of this schema; raises ValueError for a damaged file, with `remedy` as last sentence."""
    content = parse_json(read_file(path, remedy), str(path), remedy=remedy)
    require_schema(content, schema, str(path), remedy=remedy)
    return content


def parse_json(text: bytes, where: str, *, remedy: str = RESTORE) -> Any:
    """The value of a JSON text in UTF-8; raises ValueError otherwise."""
    try:
        content = json.loads(text.decode(), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"{where} is nested too deeply. {remedy}") from None
    except ValueError as error:  # also of UTF-8
        raise ValueError(f"{where} is not readable as JSON ({error}). {remedy}") from None
    level = [[content]]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    if level:
        raise ValueError(f"{where} is nested too deeply. {remedy}")
    return content


def read_file(path: Path, remedy: str = RESTORE) -> bytes:
    """The content of a file; a folder or a device in its place is a damaged file."""
    try:
        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is not a file. {remedy}")
        return path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} does not exist. {remedy}") from None
    except NotADirectoryError:
        raise
    except OSError as error:
        raise OSError(f"{path} cannot be read ({error.strerror or error}). Check its permissions.") from error
    except MemoryError:
        raise ValueError(f"{path} is larger than the free memory. {remedy}") from None


def require_schema(value: Any, schema: Schema, where: str, key: str = "", *, remedy: str = RESTORE) -> None:
    """Raises ValueError, with file and key, unless the value has the schema.

    A schema is `str`, `bool`, `float` (a finite number), `dict`, None, `ANY`, `TABLE`, `Whole` or a pattern; a tuple of
    alternatives; `[schema]` for a list; `{"key": schema, "key?": schema, ...: schema}` for an object with a required
    key, an optional key, and values under any other key.
    """
    if schema is ANY:
        return
    if not _has_type(value, schema):
        name = f"{key.lstrip('.')} must be" if key else "the content must be"
        actual = f"{value!r:.60}" if not isinstance(value, dict | list) else _description(type(value))
        raise ValueError(f"In {where}, {name} {_description(schema)}, and is {actual}. {remedy}")
    if isinstance(schema, list):
        for index, entry in enumerate(value):
            require_schema(entry, schema[0], where, f"{key}[{index}]", remedy=remedy)
    elif isinstance(schema, dict):
        for name, inner in schema.items():
            if name is ...:
                named = {name.removesuffix("?") for name in schema if name is not ...}
                for other in value.keys() - named if inner is not ANY else ():
                    require_schema(value[other], inner, where, f"{key}.{other}", remedy=remedy)
            elif (plain := name.removesuffix("?")) in value:
                require_schema(value[plain], inner, where, f"{key}.{plain}", remedy=remedy)
            elif plain == name:
                raise ValueError(f"{where} lacks {f'{key}.{name}'.lstrip('.')}. {remedy}")
    elif type(schema) is tuple and isinstance(value, dict | list):
        inner = next(entry for entry in schema if _has_type(value, entry))
        require_schema(value, inner, where, key, remedy=remedy)


def _has_type(value: Any, schema: Schema) -> bool:
    """Whether a value has the outermost type of a schema."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match schema:
        case Whole(low, high):
            return number and isinstance(value, int) and low <= value <= high
        case re.Pattern():
            return isinstance(value, str) and schema.fullmatch(value) is not None
        case tuple():
            return any(_has_type(value, entry) for entry in schema)
        case list() | dict():
            return isinstance(value, type(schema))
        case None:
            return value is None
    if schema is TABLE:
        if isinstance(value, list):
            return all(_has_type(entry, TABLE) for entry in value)
        return value is None or isinstance(value, str | bool) or _has_type(value, float)
    if schema is float:
        return number and -MAX_FLOAT < value < MAX_FLOAT
    return isinstance(value, schema)


def _description(schema: Schema) -> str:
    """A schema in words."""
    match schema:
        case Whole(low, high):
            return f"a whole number of at least {low}" + (f" and at most {high}" if high < 2**53 else "")
        case re.Pattern():
            return f"a text of the form {schema.pattern}"
        case tuple():
            return " or ".join(map(_description, schema))
        case list() | dict():
            return _description(type(schema))
    names = {
        str: "a text",
        bool: "true or false",
        float: "a finite number",
        list: "a list",
        dict: "an object",
    }
    return {**names, None: "null", TABLE: "a table of numbers"}.get(schema, "any value")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Writes named tensors as safetensors with a hash of the file; equal tensors give equal bytes."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = tensor_bytes(plain, metadata={"sha256": NO_HASH.decode()})
    start = content.index(HASH_STARTS) + len(HASH_STARTS)
    sha256 = hashlib.sha256(content).hexdigest().encode()
    write_atomically(path, content[:start] + sha256 + content[start + len(sha256) :])


def read_tensors(path: Path, *, sha256: str | None = None) -> dict[str, Tensor]:
    """Reads named tensors from safetensors; raises ValueError unless the file has this hash, or the one it carries."""
    content = read_file(path, REWRITE)
    start = 8 + len(HASH_STARTS)
    end = start + len(NO_HASH)
    try:
        tensors = load_tensors(content)
    except Exception as error:
        raise ValueError(f"{path} is not a complete safetensors file ({error}). {REWRITE}") from None
    if sha256 is None:
        actual = hashlib.sha256(content[:start] + NO_HASH)
        actual.update(memoryview(content)[end:])
        intact = content[8:start] == HASH_STARTS and content[start:end] == actual.hexdigest().encode()
    else:
        intact = hashlib.sha256(content).hexdigest() == sha256
    if not intact:
        raise ValueError(f"{path} is damaged: its hash is not the recorded one. {REWRITE}")
    return tensors


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, as sha256sum prints it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
