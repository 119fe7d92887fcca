"""The command line, called within the process of the test."""

import json
import sys
from typing import Any, NamedTuple

import pytest

from unbraid.cli.main import main

SPRITES = (  # a run that takes a moment
    *("--data", "sprites", "--image-size", 32, "--latent-dim", 3, "--steps", 2, "--batch-size", 4),
    *("--device", "cpu"),
)


class Answer(NamedTuple):
    """The output and exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """The error of a refused command: one line, exit code 2, no traceback."""
        assert self.code == 2, self
        lines = [line for line in self.err.strip().splitlines() if line]
        assert "Traceback" not in self.err
        assert len(lines) == 1 and lines[0].startswith("unbraid: "), self.err
        return lines[0].removeprefix("unbraid: ")


class CommandLine:
    """Calls `unbraid …` with the given arguments."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, *words: object) -> Answer:
        self._capsys.readouterr()
        self._monkeypatch.setattr(sys, "argv", ["unbraid", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        return Answer(code, *self._capsys.readouterr())
