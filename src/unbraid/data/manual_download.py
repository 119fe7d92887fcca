"""Files that must be downloaded by hand: datasets behind a form, an account or a browser."""

from dataclasses import dataclass
from pathlib import Path

from unbraid.data.download import DownloadError
from unbraid.data.remote_file import CONTENT_ONLY
from unbraid.data.root import data_root

RESEARCH_ONLY = "non-commercial research only, by its publishers' terms"  # license of such datasets


@dataclass(frozen=True)
class ManualDownload:
    """Files that the user must download by hand, with the interface of `RemoteFile`.

    Args:
        folder: Folder of the files under the data root.
        required: Files or folders within it that must exist.
        page_url: Web page that publishes the files.
    """

    folder: str
    required: tuple[str, ...]
    page_url: str
    is_certain: bool = False

    def path(self, root: Path | str | None = None) -> Path:
        """The folder for the files, whether or not it exists."""
        return data_root(root) / self.folder

    def require(self, root: Path | str | None = None) -> Path:
        """The folder; raises if a required file is missing."""
        folder = self.path(root)
        for name in self.required or ("",):
            if not (folder / name).exists():
                raise DownloadError(
                    f"{folder / name} is missing: download it from {self.page_url} and put it there. Set another "
                    "data root with --data-root or UNBRAID_DATA."
                )
        return folder

    def verify(self, path: Path) -> str:
        """Accepts everything, because there is no published hash; the loader checks the content."""
        return CONTENT_ONLY

    def fetch(self, root: Path | str | None = None) -> Path:
        """The folder; raises if a required file is missing, because nothing can be downloaded automatically."""
        return self.require(root)
