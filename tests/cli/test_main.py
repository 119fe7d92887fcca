"""The app and its errors, src/unbraid/cli/main.py."""

import errno
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.commandline import SPRITES, CommandLine


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


def test_an_error_of_the_system_names_the_file_and_not_its_number(
    unbraid: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(kind: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "runs/x")

    monkeypatch.setattr("unbraid.cli.list.names_by_kind", read_only)
    sentence = unbraid("list").sentence
    assert sentence.startswith("runs/x cannot be read or written (Read-only file system). Check the path")


def test_an_internal_error_has_no_traceback(unbraid: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unbraid.cli.list.names_by_kind", lambda kind: {}["gone"])
    answer = unbraid("list")
    assert answer.code == 1 and "Internal error in Unbraid" in answer.err and "Traceback" not in answer.err


def test_a_warning_is_one_sentence(unbraid: CommandLine, tmp_path: Path) -> None:
    lines = [f"{n},{n % 7}" for n in range(20)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,x", *lines]))
    words = ["vae", "--data", tmp_path / "rows.csv", "--architecture", "mlp", "--likelihood", "normal:1"]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        answer = unbraid("train", *words, "--steps", 1, "--batch-size", 4, "--out", tmp_path / "run")
    said = [line for line in answer.err.splitlines() if "--drop id" in line]
    assert answer.code == 0 and len(said) == 1
    assert said[0].startswith("unbraid: The column 'id' of ") and "table.py" not in answer.err


def test_a_sentence_is_one_line_of_printable_characters(unbraid: CommandLine) -> None:
    sentence = unbraid("report", "a\nb\x1b[31m\u202ec\udcff").sentence
    assert sentence.startswith(r"a\nb\x1b[31m\u202ec\udcff is not")
    assert "a" * 200 + "…a" in unbraid("report", "a" * 5000).sentence
    usage = unbraid("list", "methods", "a\x1b[31m" + "a" * 5000).err
    assert r"(a\x1b[31maaa" in usage and "…" in usage and len(usage) < 600
    assert len(unbraid("a\x1b[31m" + "a" * 5000).err) < 600
    assert "File name too long" in unbraid("report", "a/" * 5000).sentence


@pytest.mark.parametrize("option", ["--batch-size", "--latent-dim"])
def test_a_size_that_no_memory_holds_is_said(unbraid: CommandLine, tmp_path: Path, option: str) -> None:
    answer = unbraid("train", "beta-vae", *SPRITES, option, 2**62, "--out", tmp_path / "run")
    assert "There is not enough memory. Lower the sizes" in answer.sentence


def test_an_interrupt_while_python_exits_prints_no_traceback() -> None:
    """The command is done then, and callbacks at exit know nothing of interrupts."""
    script = (
        "import atexit, os, signal, sys; from unbraid.__main__ import run\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "sys.argv[1:] = ['--version']; run()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.startswith("unbraid ") and done.stderr == ""
    assert done.returncode == -signal.SIGINT


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("package", ["typer", "torch"])
def test_a_signal_while_a_package_is_imported_ends_with_one_sentence(
    package: str, number: signal.Signals, tmp_path: Path
) -> None:
    """`typer` is imported before the command is known, and `torch` by it. C code turns exceptions into other errors."""
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text(
        f"import os\ntry:\n    os.kill(os.getpid(), {int(number)})\n    for _ in range(100): pass\n"
        "except BaseException:\n    raise ImportError('initialization failed') from None\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    command = [sys.executable, "-m", "unbraid", "evaluate", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stderr == "unbraid: Stopped: run the same command again (training with --resume).\n"
    assert done.returncode == 128 + number
