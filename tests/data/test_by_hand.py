"""Files that a person puts in place, src/unbraid/data/by_hand.py."""

from pathlib import Path

import pytest

from unbraid.data.by_hand import ByHand
from unbraid.data.download import DownloadError

FILES = ByHand("set", ("list.txt", "images"), "https://example.org/set")


def test_what_is_missing_is_named_with_its_page_and_place(tmp_path: Path) -> None:
    with pytest.raises(
        DownloadError, match=r"set/list\.txt is missing: download it from https://example\.org/set"
    ):
        FILES.locate(tmp_path)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "list.txt").write_text("")
    with pytest.raises(DownloadError, match=r"set/images is missing"):
        FILES.fetch(tmp_path)
    (tmp_path / "set" / "images").mkdir()
    assert FILES.fetch(tmp_path) == FILES.locate(tmp_path) == tmp_path / "set"
    FILES.verify(tmp_path / "set")
