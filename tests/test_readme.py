"""Everything that README.md shows runs, and its links lead somewhere."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from tests.commandline import CommandLine
from tests.documented_code import (
    OWN_CODE,
    ROOT,
    code,
    commands,
    folder_with_files,
    run_commands,
    write_config,
)
from unbraid.cli.main import app
from unbraid.runs import Run

README = (ROOT / "README.md").read_text()
PYTHON = code(README, "python")
COMMANDS_IN_BLOCKS = commands(README)
COMMANDS = COMMANDS_IN_BLOCKS + re.findall(r"`(unbraid [^`\s]+ [^`]+)`", README)


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer steps and observations than printed, which change nothing else."""
    (program,) = PYTHON
    assert len([line for line in program.splitlines() if line and not line.startswith("import ")]) == 6
    for printed, short in (("steps=100", "steps=3"), ("num_samples=2000", "num_samples=200")):
        assert program.count(printed) == 1
        program = program.replace(printed, short)
    monkeypatch.chdir(tmp_path)
    variables: dict[str, Any] = {}
    exec(program, variables)
    assert variables["images"].shape == (9, 4, 1, 32, 32) and variables["run"].finished
    assert {"reconstruction", "kl", "mig"} <= {score["metric"] for score in variables["scores"]}
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "model.safetensors").exists()
    assert not any(f"runs/{folder.name}" in shlex.split(command) for command in COMMANDS)  # they come before


def test_there_are_commands() -> None:
    assert {shlex.split(command)[1] for command in COMMANDS} == {"train", "evaluate", "report", "explore"}


def parse(command: str) -> None:
    """Parses a command down to its last option, without running it."""
    words = shlex.split(command)[1:]
    if "--config" in words:
        write_config(words)
    if words[-1] == "--help":
        words[-1:] = ["--out", "runs/run"]
    group: Any = typer.main.get_command(app)
    context = group.make_context("unbraid", words)
    while isinstance(group, TyperGroup):
        name, group, rest = group.resolve_command(context, [*context._protected_args, *context.args])
        context = group.make_context(name, rest, parent=context)
    assert not context.args


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_parsed(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with folder_with_files(OWN_CODE, tmp_path, monkeypatch):
        parse(command)


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unbraid: CommandLine) -> None:
    """In their order, with the file own.py of docs/own_code.md and fewer steps than printed."""
    with folder_with_files(OWN_CODE, tmp_path, monkeypatch):
        run_commands(COMMANDS_IN_BLOCKS, unbraid, monkeypatch)
    assert (tmp_path / "runs" / "beta" / "explorer.html").is_file()
    scores = Run(tmp_path / "runs" / "own").scores()
    assert {"max_correlation", "mig"} <= {score["metric"] for score in scores}


def test_other_lines_of_the_blocks_are_the_set_up() -> None:
    lines = [line for block in code(README, "sh") for line in block.splitlines()]
    others = [line for line in lines if line not in COMMANDS_IN_BLOCKS]
    assert others == ["make setup", "source .venv/bin/activate"]


@pytest.mark.parametrize("path", re.findall(r"\]\(((?!http)[^)#]+)", README))
def test_every_link_leads_somewhere(path: str) -> None:
    assert (ROOT / path).exists()


def test_it_is_short() -> None:
    assert len(README.splitlines()) < 150


def test_a_command_that_cannot_be_parsed_is_found() -> None:
    with pytest.raises(Exception, match="betta"):
        parse(COMMANDS[0].replace("--beta", "--betta"))
    with pytest.raises(ValueError, match="beta-vea"):
        parse(COMMANDS[0].replace("beta-vae", "beta-vea"))
