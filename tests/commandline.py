"""The command line, called within the test's own process."""

import json
import sys
from typing import Any, NamedTuple

import pytest

from unbraid.cli import main


class Answer(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """What a refused command said: one line, exit code 2, no traceback."""
        assert self.code == 2, self
        lines = [line for line in self.err.strip().splitlines() if line]
        assert "Traceback" not in self.err
        assert len(lines) == 1 and lines[0].startswith("unbraid: "), self.err
        return lines[0].removeprefix("unbraid: ")


class CommandLine:
    """`unbraid …` by its words."""

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
