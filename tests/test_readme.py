"""The README's Python runs, and its command lines are ones that the command line understands."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from unbraid.cli import app

README = (Path(__file__).parents[1] / "README.md").read_text()
PYTHON = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
SHELL = "\n".join(re.findall(r"^```sh\n(.*?)^```$", README, re.M | re.S))
COMMANDS = [line for line in SHELL.splitlines() if line.startswith("unbraid ")]
COMMANDS += re.findall(r"`(unbraid [^`]+)`", README)


def test_the_python_runs(tmp_path: Path) -> None:
    (program,) = PYTHON
    assert len([line for line in program.splitlines() if line and not line.startswith("import ")]) == 6
    check = "assert pictures.shape == (9, 4, 1, 32, 32) and scores[0]['metric'] == 'reconstruction'\n"
    check += "assert run.finished\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program + check],
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "model.safetensors").exists()
    assert not any(f"runs/{folder.name}" in shlex.split(command) for command in COMMANDS)  # they come before


def test_there_are_commands() -> None:
    assert {shlex.split(command)[1] for command in COMMANDS} == {
        *("list", "train", "evaluate", "report", "encode", "edit", "data", "study", "compare", "select"),
        *("export", "explore"),
    }


def parse(command: str) -> None:
    """Reads a command line down to its last option, without doing what it asks for."""
    words = shlex.split(command)[1:]
    if words[-1] == "--help":
        words[-1:] = ["--out", "runs/run"]
    group: Any = typer.main.get_command(app)
    context = group.make_context("unbraid", words)
    while isinstance(group, TyperGroup):
        name, group, rest = group.resolve_command(context, [*context._protected_args, *context.args])
        context = group.make_context(name, rest, parent=context)
    assert not context.args


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_line_can_be_read(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my-images").mkdir()
    monkeypatch.chdir(tmp_path)
    parse(command)


def test_what_cannot_be_read_is_found() -> None:
    with pytest.raises(Exception, match="betta"):
        parse(COMMANDS[1].replace("--beta", "--betta"))
    with pytest.raises(ValueError, match="beta-vea"):
        parse(COMMANDS[1].replace("beta-vae", "beta-vea"))


def test_the_quick_command_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "unbraid", *shlex.split(COMMANDS[0])[1:]], capture_output=True, text=True
    )
    assert done.returncode == 0 and "beta-vae" in done.stdout
