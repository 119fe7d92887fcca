"""What every test starts from: one thread a worker, and a seeded default generator."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from threadpoolctl import threadpool_limits

from tests.commandline import CommandLine

if TYPE_CHECKING:
    from benchmarks.faults.processes import ForkedCommands

torch.set_num_threads(1)

# Files of few and long tests, the longest first. Begun last, one of them keeps one process busy and the other idle.
LONG_FILES = (
    "studies/test_ray_cluster.py",
    "studies/test_workers.py",
    "test_triton_kernels.py",
    "test_benchmarks.py",
    "training/test_stacked.py",
    "demo/test_demo.py",
    "own_code/test_installed_package.py",
    "own_code/test_command_line.py",
    "test_contributing.py",
    "training/test_train.py",
    "recipes/test_recipes.py",
    "report/test_page.py",
    "report/test_study_page.py",
    "test_frozen_numbers.py",
    "test_docs.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with the long files; pytest-xdist keeps this order with `--no-loadscope-reorder`."""
    folder = Path(__file__).parent
    order = {folder / name: index for index, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


def pytest_collection_finish() -> None:
    """One thread for linear algebra, too, of all libraries that collecting has imported."""
    threadpool_limits(1)


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
