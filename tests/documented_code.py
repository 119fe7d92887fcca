"""The files that a page of the documentation shows, written into a folder, and its commands, run there."""

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image

from tests.commandline import CommandLine
from unbraid import custom_code

ROOT = Path(__file__).parents[1]
OWN_CODE = (ROOT / "docs" / "own_code.md").read_text()
FILE = re.compile(r"# (?P<name>\w+)\.py\n")  # the first line of a block that is a file


def code(page: str, language: str) -> list[str]:
    """The blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


def programs(page: str) -> list[str]:
    """The Python of a page that is no file."""
    return [block for block in code(page, "python") if not FILE.match(block)]


def commands(page: str) -> list[str]:
    return [line for block in code(page, "sh") for line in block.splitlines() if line.startswith("unbraid ")]


@contextmanager
def folder_with_files(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder with the files of the page, some images, and the installed package whose pyproject.toml it shows."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    forget(monkeypatch)
    names = [match["name"] for block in code(page, "python") if (match := FILE.match(block))]
    for name, block in zip(names, filter(FILE.match, code(page, "python")), strict=True):
        Path(f"{name}.py").write_text(shortened(block))
    (folder / "my-images").mkdir()
    Image.new("L", (32, 32), 99).save(folder / "my-images" / "a.png")
    for block in code(page, "toml"):
        names.append(_install(block, folder))
    for cache in (custom_code.plugin, custom_code._entry_points):
        cache.cache_clear()
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)
        for cache in (custom_code.plugin, custom_code._entry_points):
            cache.cache_clear()


def _install(pyproject: str, folder: Path) -> str:
    """Installs own.py as the module of a package whose pyproject.toml is given; returns the name of the module."""
    project = tomllib.loads(pyproject)["project"]
    entries = project["entry-points"]
    (module,) = {value.partition(":")[0] for group in entries.values() for value in group.values()}
    (folder / f"{module}.py").write_text((folder / "own.py").read_text())
    information = folder / f"{module}-{project['version']}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for group, names in entries.items()
    ]
    (information / "entry_points.txt").write_text("".join(lines))
    return module


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets which code was named, as a new process does."""
    monkeypatch.setattr(custom_code, "_named", {})


def shortened(text: str) -> str:
    """Code or a command with three training steps."""
    return re.sub(r'(--steps |"steps": )\d+', r"\g<1>3", text)


def run_commands(lines: list[str], unbraid: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs each command as a process of its own would."""
    monkeypatch.setattr("webbrowser.open", lambda *_: True)
    for line in lines:
        forget(monkeypatch)
        answer = unbraid(*shlex.split(shortened(line))[1:])
        assert answer.code == 0, (line, answer.err)


def write_config(words: list[str]) -> None:
    """Writes the plan that a command takes with --config."""
    path = Path(words[words.index("--config") + 1])
    method = words[1] if not words[1].startswith("-") else "beta-vae"
    data = words[words.index("--data") + 1] if "--data" in words else "sprites"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"method": method, "data": data, "options": {}}))
