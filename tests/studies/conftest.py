"""Worker processes that start quickly."""

import multiprocessing

import pytest

PRELOAD = ["torch._dynamo", "unbraid.evaluation", "unbraid.training", "tests.studies.test_workers"]


@pytest.fixture
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forks workers from a server that has imported torch once, in place of an import per worker."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    monkeypatch.setattr(multiprocessing, "get_context", lambda method: context)
