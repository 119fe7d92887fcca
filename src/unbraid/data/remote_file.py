"""Official files: where they are published, how they are recognized, where they are stored."""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from unbraid.data.download import DownloadError, Part, TransferError, transfer
from unbraid.data.file_kind import check_kind
from unbraid.data.root import data_root
from unbraid.files import acquire_lock, sync_folder
from unbraid.progress import Stopped, signal_number

WAIT = 24 * 3600.0  # seconds for which another process's download is awaited
CONTENT_ONLY = "the content only, because no hash is published"


@dataclass(frozen=True)
class RemoteFile:
    """One official file.

    Args:
        urls: Addresses at which the file is published; the first that sends it is enough.
        file: Path under the data root; the folder is the dataset's name.
        hashes: Published hashes, such as `sha256:0a0f…` or `md5:099a…`, one of which the file must have; empty if
            none is published.
        size: Published size in bytes, or None.
        check: Raises ValueError unless a file is acceptable that has none of the hashes, because they were published
            for another copy of the content. Without it, such a file is refused.
        variant: Variant of the dataset, if there are several.
        dataset: Name of the dataset, if the folder has another name.
    """

    urls: tuple[str, ...]
    file: str
    hashes: tuple[str, ...] = ()
    size: int | None = None
    check: Callable[[Path], None] | None = None
    variant: str = ""
    dataset: str = ""

    @property
    def name(self) -> str:
        """The name and options to pass to `unbraid data`."""
        name = self.dataset or str(Path(self.file).parent)
        return name + (f" --variant {self.variant}" if self.variant else "")

    @property
    def is_certain(self) -> bool:
        """Whether a published hash decides; otherwise the loader must check the content."""
        return bool(self.hashes) and self.check is None

    def path(self, root: Path | str | None = None) -> Path:
        """Where the file is, or belongs."""
        return data_root(root) / self.file

    def require(self, root: Path | str | None = None) -> Path:
        """The file's path; raises if the file is missing."""
        path = self.path(root)
        if not path.is_file():
            raise FileNotFoundError(
                f"{path} is missing: run `unbraid data download {self.name}`, or download {self.urls[0]} "
                "and put it there. Set another data root with --data-root or UNBRAID_DATA."
            )
        return path

    def verify(self, path: Path) -> str:
        """What shows that the file is the published one; raises if it is not."""
        try:
            return self._evidence(path)
        except ValueError as error:
            raise ValueError(
                f"{path} is not the published file: {str(error).rstrip('.')}. Delete it and run `unbraid data download "
                f"{self.name}`."
            ) from None

    def _evidence(self, path: Path) -> str:
        if self.size is not None and (size := path.stat().st_size) != self.size:
            check_kind(path, Path(self.file).name)  # a web page is named as such
            raise ValueError(f"it has {size:,} bytes, and the published file has {self.size:,}")
        digests = {}
        for published in self.hashes:
            algorithm, _, digest = published.partition(":")
            with path.open("rb") as file:
                digests[algorithm] = hashlib.file_digest(file, algorithm).hexdigest()
            if digests[algorithm] == digest:
                return f"{algorithm} as published"
        check_kind(path, Path(self.file).name)
        if self.hashes and self.check is None:
            differ = ", ".join(f"{algorithm} is {digest[:12]}…" for algorithm, digest in digests.items())
            published = ", ".join(each.partition(":")[2][:12] + "…" for each in self.hashes)
            raise ValueError(f"its {differ}, published is {published}")
        if self.check is not None:
            self.check(path)
        if self.hashes:
            algorithms = " and ".join(digests)
            return (
                f"the content only, because its {algorithms} is that of another copy than the published one"
            )
        return CONTENT_ONLY

    def fetch(self, root: Path | str | None = None) -> Path:
        """Downloads the file unless it is present; an interrupted download resumes."""
        path = self.path(root)
        if path.is_file():
            self.verify(path)
            return path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _only_download(path):
                if path.is_file():  # another process has finished it meanwhile
                    self.verify(path)
                else:
                    self._download(path)
        except KeyboardInterrupt as interrupt:
            effect = "resumes it" if self._is_partial(path) else "starts it again"
            message = f"The download of {path.name} is interrupted. The same command {effect}."
            raise Stopped(message, signal_number(interrupt)) from None
        except DownloadError:
            raise
        except OSError as error:
            raise DownloadError(
                f"{path} cannot be written ({error.strerror or error}): make room there, or choose another "
                "data root with --data-root or UNBRAID_DATA."
            ) from None
        return path

    def _download(self, path: Path) -> None:
        """Downloads from the first address that sends the file, and gives it its name once it is verified."""
        failures = []
        for url in self.urls:
            part = Part.of(path, url)
            try:
                transfer(part, path.name, self.size)
                self._evidence(part.path)
            except TransferError as error:
                failures.append(f"{url} failed ({error})")
            except ValueError as error:
                part.discard()  # wrong bytes must not be resumed
                failures.append(f"{url} did not send the published file ({error})")
            else:
                _give_name(part.path, path)
                for each in self.urls:
                    Part.of(path, each).discard()
                return
        resumes = " to resume" if self._is_partial(path) else ""
        raise DownloadError(
            f"{path.name} is missing and could not be downloaded: {'; '.join(failures)}. Run the command "
            f"again{resumes}, or download it on another machine and put it at {path}."
        )

    def _is_partial(self, path: Path) -> bool:
        return any(Part.of(path, url).resume() for url in self.urls)


@contextmanager
def _only_download(path: Path) -> Iterator[None]:
    """Waits until no other process downloads the file, and keeps others out."""
    lock_file = path.with_name(f".{path.name}.lock")
    message = f"Another process is downloading {path}. Wait until it has finished, and run the command again."
    try:
        lock = acquire_lock(lock_file, message=message)
    except ValueError:
        print(f"Waiting for another process that downloads {path.name}.", file=sys.stderr, flush=True)
        lock = acquire_lock(lock_file, message=message, timeout=WAIT)
    try:
        yield
    finally:
        if path.is_file():  # nobody will need the lock again
            with suppress(OSError):  # Windows keeps open files
                lock_file.unlink(missing_ok=True)
        lock.release()


def _give_name(part: Path, path: Path) -> None:
    """Renames a complete part, so that the file also survives a power failure."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(part, path)
    sync_folder(path.parent)


@dataclass(frozen=True)
class RemoteFiles:
    """Several official files in one folder that make one dataset."""

    sources: tuple[RemoteFile, ...]

    @property
    def is_certain(self) -> bool:
        """Whether published hashes decide for every file."""
        return all(source.is_certain for source in self.sources)

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

    def verify(self, path: Path) -> str:
        """What shows that the files in the folder are the published ones; raises if one is not."""
        evidence = [source.verify(path / Path(source.file).name) for source in self.sources]
        return ", ".join(dict.fromkeys(evidence))

    def fetch(self, root: Path | str | None = None) -> Path:
        """Downloads the missing files; returns their folder."""
        for source in self.sources:
            source.fetch(root)
        return self.path(root)
