"""A server of files for tests of downloads."""

from collections.abc import Iterator

import pytest

from tests.data.file_server import FileServer, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """A file server on this machine, which is reached without a proxy."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as server:
        yield server
