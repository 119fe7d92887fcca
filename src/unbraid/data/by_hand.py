"""Files that no program may fetch: research sets that ask for a form, an account or a browser."""

from dataclasses import dataclass
from pathlib import Path

from unbraid.data.download import DownloadError
from unbraid.data.root import data_root


@dataclass(frozen=True)
class ByHand:
    """Files to be put in place by a person.

    Args:
        folder: Their folder under the data root.
        needs: Names within it that must be there.
        page: Where they are published.
    """

    folder: str
    needs: tuple[str, ...]
    page: str
    sha256: None = None

    def path(self, root: Path | str | None = None) -> Path:
        """Where the files lie, or should."""
        return data_root(root) / self.folder

    def locate(self, root: Path | str | None = None) -> Path:
        """The folder; raises where something is missing from it."""
        folder = self.path(root)
        for name in self.needs or ("",):
            if not (folder / name).exists():
                raise DownloadError(
                    f"{folder / name} is missing: download it from {self.page} and put it there; another data root is "
                    "given with --root or UNBRAID_DATA."
                )
        return folder

    def verify(self, path: Path) -> None:
        """There is no hash to go by: the loader looks at the content."""

    def fetch(self, root: Path | str | None = None) -> Path:
        """Finds what is there; nothing is downloaded."""
        return self.locate(root)
