"""`unbraid demo`, src/unbraid/cli/demo.py."""

from pathlib import Path
from typing import Any

import pytest

from tests.commandline import CommandLine


def test_the_demo_is_called_and_its_page_printed(
    unbraid: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def demo(out: Path, **options: Any) -> Path:
        calls.append((out, options))
        return out / "index.html"

    monkeypatch.setattr("unbraid.demo.demo", demo)
    page = tmp_path / "index.html"
    assert unbraid("demo", "--out", tmp_path).out == f"Open {page} in a browser.\n"
    assert unbraid("demo", "--out", tmp_path, "--json").json == {"out": str(page)}
    assert calls == [(tmp_path, {"quiet": False}), (tmp_path, {"quiet": True})]
