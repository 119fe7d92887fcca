"""The app and its errors, src/unbraid/cli/main.py."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import CommandLine


def test_help_imports_nothing_heavy() -> None:
    """So that it answers at once: torch alone takes more than a second."""
    shown = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "unbraid", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "train" in shown.stdout and "evaluate" in shown.stdout
    modules = {line.rpartition("|")[2].strip() for line in shown.stderr.splitlines()}
    assert "unbraid.cli.main" in modules and not modules & {"torch", "numpy", "scipy", "sklearn"}


def test_help_shows_every_command_with_its_sentence(unbraid: CommandLine) -> None:
    commands = unbraid("--help").out.partition("Commands:")[2]
    assert "..." not in commands
    names = [line.split()[0] for line in commands.splitlines() if line.startswith("  ") and line[2] != " "]
    assert set(names) == {
        *("list", "data", "train", "evaluate", "score", "study", "encode", "edit", "report", "export"),
        *("explore", "compare", "select", "demo"),
    }


def test_a_folder_of_another_version(unbraid: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text('{"format": 2}')
    for words in (["report"], ["report", "--print-table", "md"], ["compare"], ["select"]):
        sentence = unbraid(words[0], tmp_path, *words[1:]).sentence
        assert "must be in study format 1, and is in 2" in sentence


def test_a_folder_that_is_not_a_run(unbraid: CommandLine, tmp_path: Path) -> None:
    for command in (["evaluate"], ["report"]):
        assert "is not a run folder" in unbraid(*command, tmp_path).sentence


def test_an_internal_error_has_no_traceback(unbraid: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unbraid.cli.list.names_by_kind", lambda kind: {}["gone"])
    answer = unbraid("list")
    assert answer.code == 1 and "Internal error in Unbraid" in answer.err and "Traceback" not in answer.err
