"""The code of the pages runs, shortened to a few steps. `make test` only reads it, and runs what takes seconds."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import CommandLine
from tests.documented_code import code, commands, folder_with_files, programs, run_commands
from tests.test_docs import DOCS, RUN, text

METHODS = sorted((DOCS / "methods").glob("*.md"))
PROGRAMS = [str(page.relative_to(DOCS)) for page in METHODS if code(page.read_text(), "python")]
PROGRAMS += ["start.md", "runs.md", "explorer.md", "metrics.md", "own_metric.md"]
FROM_A_RUN = ("runs.md", "explorer.md")  # their Python opens the run of an earlier command
COMMANDS = ("which_method.md", "start.md")


def few_steps(program: str) -> str:
    """Python with three training steps and small batches."""
    program = re.sub(r'(steps=|"steps": )\d+', r"\g<1>3", program)
    return re.sub(r'(batch_size=|"batch_size": )\d+', r"\g<1>16", program)


def small(command: str) -> str:
    """A command with small batches and few samples."""
    command = re.sub(r"--batch-size \d+", "--batch-size 60", command)
    if command.startswith("unbraid evaluate") and "--num-samples 0" not in command:
        command += " --num-samples 300 --num-test-samples 300"
    return command


@pytest.mark.parametrize("page", sorted({*PROGRAMS} - {*RUN}))
def test_python_runs(page: str, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": page}
    if page in FROM_A_RUN:
        shutil.copytree(trained, tmp_path / "runs" / "beta")
    with folder_with_files(text(page), tmp_path, monkeypatch):
        for block in programs(text(page)):
            exec(compile(few_steps(block), page, "exec"), names)


@pytest.mark.parametrize("page", COMMANDS)
def test_commands_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unbraid: CommandLine
) -> None:
    with folder_with_files(text(page), tmp_path, monkeypatch):
        lines = [small(line) for line in commands(text(page)) if shlex.split(line)[1] != "demo"]
        run_commands(lines, unbraid, monkeypatch)
