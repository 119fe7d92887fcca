"""Text is UTF-8 in every locale: in every file that src/unbraid reads or writes, and on standard output and error."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import unbraid
from tests.commandline import CommandLine

SOURCE = Path(unbraid.__file__ or "").parent
FILES = sorted(SOURCE.rglob("*.py"))
TEXT_METHODS = {"read_text", "write_text"}
SUBPROCESS_CALLS = {"run", "Popen", "check_output", "check_call", "call"}
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def calls_without_encoding(text: str) -> Iterator[int]:
    """The lines that open, read or write text, or run a process with text, in the locale's encoding."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if "encoding" in given:
            continue
        if name in TEXT_METHODS and owner != "formatter":  # click's formatter has a write_text, too
            yield node.lineno
        elif name in ("open", "fdopen") and not owner.endswith(
            ("tarfile", "archive", "Image", "webbrowser", "os")
        ):
            position = 0 if isinstance(node.func, ast.Attribute) and owner != "os" else 1
            mode = given.get("mode", node.args[position] if len(node.args) > position else None)
            modes = [] if mode is None else [n for n in ast.walk(mode) if isinstance(n, ast.Constant)]
            if not any("b" in str(each.value) for each in modes):
                yield node.lineno
        elif (
            name in SUBPROCESS_CALLS
            and owner == "subprocess"
            and {"text", "universal_newlines"} & given.keys()
        ):
            yield node.lineno


@pytest.mark.parametrize("call", ["open(p)", "p.open()", "open(p, 'a')", "p.read_text()", "p.write_text(t)"])
def test_the_walk_finds_calls_without_an_encoding(call: str) -> None:
    assert list(calls_without_encoding(call)) == [1]
    assert not list(
        calls_without_encoding(call[:-1] + (", " if call[-2] != "(" else "") + "encoding='utf-8')")
    )


def test_the_walk_passes_bytes() -> None:
    assert not list(calls_without_encoding("open(p, 'rb'); p.open('wb'); subprocess.run(c)"))
    assert list(calls_without_encoding("subprocess.run(c, text=True)")) == [1]


def test_every_text_file_is_utf8() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in FILES
        if path.name != "folder.py"
        for line in calls_without_encoding(path.read_text(encoding="utf-8"))
    ]
    assert not wrong


def command(*words: str, environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """The output of `unbraid …` in a process of its own, in bytes."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHONIO"))
    }
    return subprocess.run(
        [sys.executable, "-m", "unbraid", *words],
        env=inherited | environment,
        capture_output=True,
        timeout=100,
    )


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (("list", "methods"), ASCII),
        (("train", "beta-tcvae", "--help"), {"PYTHONIOENCODING": "ascii"}),
        (("train", "beta-tcvae", "--help"), {"PYTHONIOENCODING": "cp1252"}),
    ],
)
def test_greek_letters_are_printed_in_every_locale(
    words: tuple[str, ...], environment: dict[str, str]
) -> None:
    done = command(*words, environment=environment)
    assert done.returncode == 0, done.stderr
    assert "β" in done.stdout.decode("utf-8")
    assert not done.stderr


def test_a_file_name_that_is_no_utf8_is_printed_escaped(tmp_path: Path) -> None:
    """Linux allows any bytes in a name; Python holds the bytes that are no UTF-8 as surrogates."""
    folder = os.fsencode(tmp_path / "bilder-") + b"\xff\xfe"
    os.mkdir(folder)
    done = command("data", "check", os.fsdecode(folder), environment=ASCII)
    assert done.returncode == 2
    (line,) = done.stderr.decode("utf-8").splitlines()
    assert line.startswith("unbraid: ") and "bilder-\\udcff\\udcfe holds no images" in line


def test_a_file_name_that_cannot_be_encoded_gets_one_sentence(
    monkeypatch: pytest.MonkeyPatch, unbraid: CommandLine
) -> None:
    def fails(*_: object, **__: object) -> None:
        "bilder-\udcff".encode()

    monkeypatch.setattr("unbraid.data.check_dataset", fails)
    assert (
        "'bilder-\\udcff' has characters that utf-8 cannot encode" in unbraid("data", "check", "x").sentence
    )
