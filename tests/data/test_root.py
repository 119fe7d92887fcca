"""The data root and the cache folder, src/unbraid/data/root.py."""

from pathlib import Path

import pytest

from unbraid.data.root import cache_folder, data_root


def test_the_argument_comes_first_then_the_environment_then_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UNBRAID_DATA", "/data")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert data_root("/mine") == Path("/mine")
    assert data_root() == Path("/data")
    monkeypatch.delenv("UNBRAID_DATA")
    assert data_root() == cache_folder() == Path("/caches/unbraid")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert data_root() == Path("/home/someone/.cache/unbraid")
    assert data_root("~/data") == Path("/home/someone/data")
