"""What every test starts from: one thread a worker, and a seeded default generator."""

import pytest
import torch

from tests.commandline import CommandLine

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def unbraid(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """`unbraid …` within this process."""
    return CommandLine(monkeypatch, capsys)
