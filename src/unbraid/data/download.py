"""Downloads one file from one address into a partial file, which a later download from the same address resumes."""

import errno
import http.client
import re
import shutil
import urllib.error
import urllib.request
import zlib
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

from unbraid.data.file_kind import HEAD, check_head
from unbraid.files import PART, read_json, write_json
from unbraid.progress import transient_bar

CHUNK = 1 << 20
TIMEOUT = 30.0  # seconds without a byte
AGENT = "unbraid (https://pypi.org/project/unbraid)"


class DownloadError(FileNotFoundError):
    """A file is missing and could not be downloaded."""


class TransferError(Exception):
    """One address did not send the file; another one may."""

    def __init__(self, message: str, *, is_unreachable: bool = False) -> None:
        super().__init__(message)
        self.is_unreachable = is_unreachable  # without any answer


@dataclass(frozen=True)
class Part:
    """The first bytes of a file from one address, and beside them what the server said about the whole.

    The address is in the name, so that bytes of two mirrors are never mixed.
    """

    path: Path
    url: str

    @classmethod
    def of(cls, target: Path, url: str) -> "Part":
        """The part of a file that an address has sent, whether or not there is one."""
        digest = sha256(url.encode()).hexdigest()[:8]
        return cls(target.with_name(f".{target.name}.{digest}{PART}"), url)

    @property
    def size(self) -> int:
        """The number of bytes that are there."""
        return self.path.stat().st_size if self.path.is_file() else 0

    @property
    def _record(self) -> Path:
        return self.path.with_name(self.path.name + ".json")

    def resume(self) -> "Resume | None":
        """Where the download can resume; None without bytes, or if the server gives its file no ETag and no date."""
        try:
            stored = read_json(self._record)
            resume = Resume(self.size, stored["validator"], stored["total"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        total_is_known = resume.total is None or isinstance(resume.total, int)
        is_valid = isinstance(resume.validator, str) and resume.validator != "" and total_is_known
        fits = resume.total is None or resume.have <= resume.total
        return resume if is_valid and fits and resume.have else None

    def begin(self, validator: str, total: int | None) -> None:
        """Discards the bytes and records what the server says about the whole file."""
        self.discard()
        write_json(self._record, {"url": self.url, "validator": validator, "total": total})

    def discard(self) -> None:
        """Deletes the bytes and the record."""
        self.path.unlink(missing_ok=True)
        self._record.unlink(missing_ok=True)


@dataclass(frozen=True)
class Resume:
    """What is known about a part: its bytes, the server's ETag or date of the whole file, and its size."""

    have: int
    validator: str
    total: int | None


def transfer(part: Part, name: str, size: int | None = None) -> None:
    """Completes a part, from where it ends if the server still has the same file; raises TransferError.

    Args:
        part: The part to complete.
        name: Name of the whole file, whose ending says what it should be.
        size: Its published size in bytes, if known.
    """
    resume = part.resume()
    if resume is not None and resume.have == resume.total:
        return  # completed by a process that ended before it could verify the file
    if resume is not None:
        headers = {"Range": f"bytes={resume.have}-", "If-Range": resume.validator}
        response = request(part.url, headers, accept=(416,))
        with response:
            if response.status == 206 and _continues(response, resume):
                _receive(response, part, name, resume.have, resume.total)
                return
            if response.status == 200:
                _receive_whole(response, part, name, size)
                return
    with request(part.url, {}) as response:  # what is there does not belong to what the server has now
        if response.status != 200:
            raise TransferError(f"it answers {response.status} {response.reason}")
        _receive_whole(response, part, name, size)


def request(
    url: str,
    headers: dict[str, str],
    *,
    method: str = "GET",
    accept: tuple[int, ...] = (),
    timeout: float | None = None,
) -> Any:
    """The answer to a request; raises TransferError if there is none, or an error that is not accepted."""
    message = urllib.request.Request(url, headers={"User-Agent": AGENT, **headers}, method=method)
    try:
        return urllib.request.urlopen(message, timeout=TIMEOUT if timeout is None else timeout)
    except urllib.error.HTTPError as error:
        if error.code in accept:
            return error
        error.close()
        raise TransferError(f"it answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: an odd redirect
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise TransferError(f"it cannot be reached: {reason}", is_unreachable=True) from error


def _continues(response: HTTPResponse, resume: Resume) -> bool:
    """Whether a partial answer starts where the part ends, in the same file."""
    content_range = re.fullmatch(
        r"bytes (\d+)-(\d+)/(\d+|\*)", response.headers.get("Content-Range", "").strip()
    )
    if content_range is None or int(content_range[1]) != resume.have:
        return False
    if resume.total is not None and content_range[3] != "*" and int(content_range[3]) != resume.total:
        return False
    etag = response.headers.get("ETag")
    return etag is None or not resume.validator.startswith('"') or etag == resume.validator


def _validator(response: HTTPResponse) -> str:
    """What `If-Range` takes: a strong ETag, otherwise the date of the file; empty if there is neither."""
    etag = response.headers.get("ETag", "")
    return etag if etag.startswith('"') else response.headers.get("Last-Modified", "")


def _length(response: HTTPResponse) -> int | None:
    """The announced number of bytes in the answer's body."""
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isascii() and length.isdigit() else None


def _receive_whole(response: HTTPResponse, part: Part, name: str, size: int | None) -> None:
    """Writes a whole answer, which replaces what is there."""
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    if encoding not in ("identity", "gzip", "x-gzip", ""):
        raise TransferError(f"it sends the file in the encoding {encoding}, which was not asked for")
    # Servers that take a .gz file for an encoding send its very bytes.
    is_packed = encoding in ("gzip", "x-gzip") and not name.endswith((".gz", ".tgz"))
    total = None if is_packed else _length(response)
    if None not in (total, size) and total != size:
        raise TransferError(f"it announces {total} bytes, and the published file has {size}")
    part.begin("" if is_packed else _validator(response), total)
    _receive(response, part, name, 0, total, zlib.decompressobj(31) if is_packed else None)


def _receive(
    response: HTTPResponse, part: Part, name: str, have: int, total: int | None, unpack: Any = None
) -> None:
    """Appends the body of an answer to the part, up to the announced end of the file."""
    left = _length(response)
    free = shutil.disk_usage(part.path.parent).free
    if total is not None and total - have > free:
        raise OSError(errno.ENOSPC, f"it needs {total - have:,} more bytes, and {free:,} are free")
    with transient_bar(name, total, have) as advance, part.path.open("ab" if have else "wb") as file:
        while left is None or left > 0:
            try:
                chunk = response.read1(CHUNK if left is None else min(CHUNK, left))
                left = None if left is None else left - len(chunk)
                content = unpack.decompress(chunk) if unpack else chunk
            except (OSError, http.client.HTTPException, zlib.error) as error:
                raise TransferError(f"it stopped after {_of(have, total)} bytes: {error}") from error
            if not chunk:
                break
            if not have:
                _check_first(content, name)
            file.write(content)
            have += len(content)
            advance(len(content))
    if (total is not None and have < total) or (unpack and not unpack.eof):
        raise TransferError(f"it stopped after {_of(have, total)} bytes")


def _check_first(content: bytes, name: str) -> None:
    """Raises if the first bytes are those of another kind; too few are left to the check at the end."""
    if len(content) >= 64:
        try:
            check_head(content[:HEAD], name)
        except ValueError as error:
            raise TransferError(f"what it sends is not the file: {error}") from None


def _of(have: int, total: int | None) -> str:
    return f"{have:,}" if total is None else f"{have:,} of {total:,}"
