"""What every test starts from: one thread a worker, and a seeded default generator."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import torch

from tests.commandline import CommandLine

if TYPE_CHECKING:
    from benchmarks.faults.processes import ForkedCommands

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def unbraid(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """`unbraid …` within this process."""
    return CommandLine(monkeypatch, capsys)


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[ForkedCommands]":
    """Starts `unbraid …` as a process of its own, forked from one that has imported everything."""
    from benchmarks.faults.processes import ForkedCommands

    with ForkedCommands(tmp_path_factory.mktemp("forked")) as commands:
        yield commands
