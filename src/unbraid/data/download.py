"""Official files: where they are published, where they lie, and how they are fetched."""

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from unbraid.data.progress import progress
from unbraid.data.root import data_root

CHUNK = 1 << 20
TIMEOUT = 30  # seconds without a byte


class DownloadError(FileNotFoundError):
    """A file is not here and could not be fetched."""


@dataclass(frozen=True)
class Source:
    """One official file.

    Args:
        url: Its published address.
        sha256: Its hash, or None where none was taken from the official file.
        file: Its place under the data root; the folder is the dataset's name.
        variant: Which one it is, where the dataset has several.
        dataset: The dataset's name, where the folder has another.
    """

    url: str
    sha256: str | None
    file: str
    variant: str = ""
    dataset: str = ""

    @property
    def name(self) -> str:
        """What to ask `unbraid data` for."""
        name = self.dataset or str(Path(self.file).parent)
        return name + (f" --variant {self.variant}" if self.variant else "")

    def path(self, root: Path | str | None = None) -> Path:
        """Where the file lies, or should."""
        return data_root(root) / self.file

    def locate(self, root: Path | str | None = None) -> Path:
        """The file's path; raises where it is missing."""
        path = self.path(root)
        if not path.is_file():
            raise FileNotFoundError(
                f"{path} is missing: run `unbraid data get {self.name}`, or download {self.url} "
                "and put it there; another data root is given with --root or UNBRAID_DATA."
            )
        return path

    def verify(self, path: Path) -> None:
        """Raises unless the file has the published hash, where there is one."""
        if self.sha256 is None:
            return
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.sha256:
            raise ValueError(
                f"{path} is not the published file (sha256 {found[:12]}…, published {self.sha256[:12]}…): "
                f"delete it and download {self.url} again."
            )

    def fetch(self, root: Path | str | None = None) -> Path:
        """Downloads the file unless it is here; a download that broke off goes on where it stopped."""
        path = self.path(root)
        if path.is_file():
            self.verify(path)
            return path
        part = path.with_name(path.name + ".part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._download(part, path)
        except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
            reason = getattr(error, "reason", None) or error
            raise DownloadError(
                f"{path.name} is missing and {self.url} cannot be reached ({reason}): download it on a "
                f"machine with a network and put it at {path}."
            ) from None
        except OSError as error:
            if isinstance(error, DownloadError):
                raise
            raise DownloadError(
                f"{path} cannot be written ({error.strerror or error}): make room there, or choose another "
                "data root with --root or UNBRAID_DATA."
            ) from None
        try:
            self.verify(part)
        except ValueError:
            part.unlink()  # going on from wrong bytes would never end well
            raise ValueError(
                f"What {self.url} sent is not the published file (its sha256 is not {self.sha256}): "
                f"try again, or put the right file at {path}."
            ) from None
        os.replace(part, path)
        return path

    def _download(self, part: Path, path: Path) -> None:
        """Fills `part` to the length that the server announces."""
        have = part.stat().st_size if part.exists() else 0
        request = urllib.request.Request(self.url, headers={"Range": f"bytes={have}-"} if have else {})
        try:
            response = urllib.request.urlopen(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as error:
            error.close()
            if not (have and error.code == 416):  # nothing lies beyond what we have
                raise
            if error.headers.get("Content-Range") == f"bytes */{have}":
                return
            part.unlink()
            return self._download(part, path)
        with response:
            if response.status != 206:  # the server sends the whole file, whatever was asked
                have = 0
            length = response.headers.get("Content-Length")
            total = None if length is None else have + int(length)
            with progress(path.name, total, have) as advance, part.open("ab" if have else "wb") as file:
                while chunk := response.read(CHUNK):
                    file.write(chunk)
                    advance(len(chunk))
                have = file.tell()
        if total is not None and have < total:
            raise DownloadError(
                f"The download of {path.name} stopped after {have} of {total} bytes: run the command again "
                f"and it goes on from there, or put the file from {self.url} at {path}."
            )


@dataclass(frozen=True)
class Files:
    """Several official files in one folder that make one dataset."""

    sources: tuple[Source, ...]

    @property
    def sha256(self) -> str | None:
        """The first hash, or None where one of the files has none."""
        hashes = [source.sha256 for source in self.sources]
        return None if None in hashes else hashes[0]

    def path(self, root: Path | str | None = None) -> Path:
        """The folder of the files."""
        return self.sources[0].path(root).parent

    def here(self, root: Path | str | None = None) -> bool:
        """Whether every file is in its place."""
        return all(source.path(root).is_file() for source in self.sources)

    def locate(self, root: Path | str | None = None) -> Path:
        """The folder; raises where a file is missing from it."""
        for source in self.sources:
            source.locate(root)
        return self.path(root)

    def verify(self, path: Path) -> None:
        """Raises unless every file in the folder has its published hash."""
        for source in self.sources:
            source.verify(path / Path(source.file).name)

    def fetch(self, root: Path | str | None = None) -> Path:
        """Downloads the files that are not here; the folder they lie in."""
        for source in self.sources:
            source.fetch(root)
        return self.path(root)
