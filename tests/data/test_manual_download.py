"""Files that are downloaded by hand, src/unbraid/data/manual_download.py."""

from pathlib import Path

import pytest

from unbraid.data.download import DownloadError
from unbraid.data.manual_download import ManualDownload

FILES = ManualDownload("set", ("list.txt", "images"), "https://example.org/set")


def test_missing_files_are_named_with_page_and_path(tmp_path: Path) -> None:
    with pytest.raises(
        DownloadError, match=r"set/list\.txt is missing: download it from https://example\.org/set"
    ):
        FILES.require(tmp_path)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "list.txt").write_text("")
    with pytest.raises(DownloadError, match=r"set/images is missing"):
        FILES.fetch(tmp_path)
    (tmp_path / "set" / "images").mkdir()
    assert FILES.fetch(tmp_path) == FILES.require(tmp_path) == tmp_path / "set"
    FILES.verify(tmp_path / "set")
