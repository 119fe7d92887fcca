"""Worker processes that start quickly."""

import multiprocessing

import pytest

from tests.forkserver import forkserver


@pytest.fixture
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forks workers from a server, in place of an import per worker."""
    context = forkserver()
    monkeypatch.setattr(multiprocessing, "get_context", lambda method: context)
