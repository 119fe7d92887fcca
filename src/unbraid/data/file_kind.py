"""What a file is by its first bytes, so that a login page is never taken for data."""

import re
import zipfile
from pathlib import Path

HEAD = 1024  # bytes that are looked at
# The kind by the first bytes. A file's ending says which kind it should be.
MAGIC = {
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip file",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"\x93NUMPY": "an npy file",
    b"MATLAB 5.0 MAT-file": "a MATLAB file",
    b"\xff\xd8\xff": "a JPEG image",
    b"\x89PNG\r\n\x1a\n": "a PNG image",
    b"\x00\x00\x08": "an idx file",
    b"%PDF": "a PDF file",
    b"version https://git-lfs": "a Git LFS pointer instead of the file",
}
BY_ENDING = {
    ".npz": "a zip archive",
    ".zip": "a zip archive",
    ".gz": "a gzip file",
    ".tgz": "a gzip file",
    ".h5": "an HDF5 file",
    ".hdf5": "an HDF5 file",
    ".npy": "an npy file",
    ".mat": "a MATLAB file",
    ".jpg": "a JPEG image",
    ".jpeg": "a JPEG image",
    ".png": "a PNG image",
    ".tar": "a tar archive",
    ".csv": "a CSV table",
    "-ubyte": "an idx file",
}


def kind(head: bytes) -> str:
    """What a file with these first bytes is, in words."""
    if not head:
        return "an empty file"
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            return name
    if head[257:262] == b"ustar":
        return "a tar archive"
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<script", b"<!--")):
        title = re.search(rb"<title[^>]*>\s*([^<]{1,60}?)\s*<", head, re.IGNORECASE)
        named = f" titled {title[1].decode(errors='replace')!r}" if title else ""
        return f"a web page{named}"
    if start.startswith(b"<"):
        return "an XML message"
    if start.startswith((b"{", b"[")):
        return "a JSON message"
    if b"\x00" in head:
        return "a file of unknown kind"
    line = start.splitlines()[0] if start else b""
    return "a CSV table" if any(mark in line for mark in (b",", b";", b"\t")) else "plain text"


def expected_kind(name: str) -> str | None:
    """The kind that a file of this name should be; None if its ending says nothing."""
    return next((kind for ending, kind in BY_ENDING.items() if name.lower().endswith(ending)), None)


def check_head(head: bytes, name: str) -> None:
    """Raises unless the first bytes are those of the kind that the file's name says."""
    expected, got = expected_kind(name), kind(head)
    # Without an expectation, what servers send in place of a file is still refused.
    replacement = got.startswith(("a web page", "an XML", "a Git LFS")) or not head
    if got != expected if expected is not None else replacement:
        raise ValueError(f"it is {got}, not {expected or 'the file'}")


def check_kind(path: Path, name: str) -> None:
    """Raises unless a whole file is of the kind that its name says."""
    with path.open("rb") as file:
        check_head(file.read(HEAD), name)
    if expected_kind(name) == "a zip archive" and not zipfile.is_zipfile(path):
        raise ValueError("it is a zip archive that is cut short")
