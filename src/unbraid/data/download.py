"""Official files: where they are published, where they are stored, and how they are downloaded."""

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from unbraid.data.root import data_root
from unbraid.progress import transient_bar

CHUNK = 1 << 20
TIMEOUT = 30  # seconds without a byte


class DownloadError(FileNotFoundError):
    """A file is missing and could not be downloaded."""


@dataclass(frozen=True)
class RemoteFile:
    """One official file.

    Args:
        url: Address at which the file is published.
        sha256: Published hash, or None if there is none.
        file: Path under the data root; the folder is the dataset's name.
        variant: Variant of the dataset, if there are several.
        dataset: Name of the dataset, if the folder has another name.
    """

    url: str
    sha256: str | None
    file: str
    variant: str = ""
    dataset: str = ""

    @property
    def name(self) -> str:
        """The name and options to pass to `unbraid data`."""
        name = self.dataset or str(Path(self.file).parent)
        return name + (f" --variant {self.variant}" if self.variant else "")

    def path(self, root: Path | str | None = None) -> Path:
        """Where the file is, or belongs."""
        return data_root(root) / self.file

    def require(self, root: Path | str | None = None) -> Path:
        """The file's path; raises if the file is missing."""
        path = self.path(root)
        if not path.is_file():
            raise FileNotFoundError(
                f"{path} is missing: run `unbraid data download {self.name}`, or download {self.url} "
                "and put it there. Set another data root with --data-root or UNBRAID_DATA."
            )
        return path

    def verify(self, path: Path) -> None:
        """Raises unless the file has the published hash, if there is one."""
        if self.sha256 is None:
            return
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != self.sha256:
            raise ValueError(
                f"{path} is not the published file (sha256 {digest[:12]}…, published {self.sha256[:12]}…): "
                f"delete it and download {self.url} again."
            )

    def fetch(self, root: Path | str | None = None) -> Path:
        """Downloads the file unless it is present; an interrupted download resumes."""
        path = self.path(root)
        if path.is_file():
            self.verify(path)
            return path
        partial = path.with_name(path.name + ".part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._download(partial, path)
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
                "data root with --data-root or UNBRAID_DATA."
            ) from None
        try:
            self.verify(partial)
        except ValueError:
            partial.unlink()  # wrong bytes must not be resumed
            raise ValueError(
                f"What {self.url} sent is not the published file (its sha256 is not {self.sha256}): "
                f"try again, or put the right file at {path}."
            ) from None
        os.replace(partial, path)
        return path

    def _download(self, partial: Path, path: Path) -> None:
        """Extends `partial` to the length that the server announces."""
        have = partial.stat().st_size if partial.exists() else 0
        request = urllib.request.Request(self.url, headers={"Range": f"bytes={have}-"} if have else {})
        try:
            response = urllib.request.urlopen(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as error:
            error.close()
            if not (have and error.code == 416):  # the server has no further bytes
                raise
            if error.headers.get("Content-Range") == f"bytes */{have}":
                return
            partial.unlink()
            return self._download(partial, path)
        with response:
            if response.status != 206:  # the server ignores the range and sends the whole file
                have = 0
            length = response.headers.get("Content-Length")
            total = None if length is None else have + int(length)
            with (
                transient_bar(path.name, total, have) as advance,
                partial.open("ab" if have else "wb") as file,
            ):
                while chunk := response.read(CHUNK):
                    file.write(chunk)
                    advance(len(chunk))
                have = file.tell()
        if total is not None and have < total:
            raise DownloadError(
                f"The download of {path.name} stopped after {have} of {total} bytes: run the command again "
                f"to resume, or put the file from {self.url} at {path}."
            )


@dataclass(frozen=True)
class RemoteFiles:
    """Several official files in one folder that make one dataset."""

    sources: tuple[RemoteFile, ...]

    @property
    def sha256(self) -> str | None:
        """The first hash, or None if one of the files has none."""
        hashes = [source.sha256 for source in self.sources]
        return None if None in hashes else hashes[0]

    def path(self, root: Path | str | None = None) -> Path:
        """The folder of the files."""
        return self.sources[0].path(root).parent

    def is_present(self, root: Path | str | None = None) -> bool:
        """Whether every file is present."""
        return all(source.path(root).is_file() for source in self.sources)

    def require(self, root: Path | str | None = None) -> Path:
        """The folder; raises if one of its files is missing."""
        for source in self.sources:
            source.require(root)
        return self.path(root)

    def verify(self, path: Path) -> None:
        """Raises unless every file in the folder has its published hash."""
        for source in self.sources:
            source.verify(path / Path(source.file).name)

    def fetch(self, root: Path | str | None = None) -> Path:
        """Downloads the missing files; returns their folder."""
        for source in self.sources:
            source.fetch(root)
        return self.path(root)
