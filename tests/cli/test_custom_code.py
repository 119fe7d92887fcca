"""Options that name the code of a run again, src/unbraid/cli/custom_code.py."""

import inspect
from pathlib import Path

import pytest

from tests.commandline import CommandLine
from unbraid import custom_code
from unbraid.cli.custom_code import takes_custom_code, use_references


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(custom_code, "_named", {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def first(): ...\ndef second(): ...\n")


def test_a_command_gets_the_options_and_imports_what_they_name() -> None:
    @takes_custom_code("method", "data")
    def command(run: str, *, out: str = "") -> tuple[str, str, bool]:
        return run, out, custom_code.known("mine.py:second") is not None

    assert list(inspect.signature(command).parameters) == ["run", "out", "custom_method", "custom_data"]
    assert command("r", out="o", custom_method=["mine.py:first", "mine.py:second"], custom_data=None) == (
        "r",
        "o",
        True,
    )
    assert command("r") == ("r", "", True)


def test_plain_names_and_architectures_are_left_alone() -> None:
    use_references(["beta-vae", "overlay:linear", "", None, "C:\\images"])
    assert not custom_code._named
    use_references(["mine.py:first"])
    assert custom_code.known("first") is not None


@pytest.mark.parametrize("option", ["--method", "--data", "--architecture"])
def test_names_that_are_no_code_are_refused(unbraid: CommandLine, trained: Path, option: str) -> None:
    for name in ("beta-vae", "own.py"):
        said = unbraid("report", trained, option, name).sentence
        assert said.startswith(f"{option} names your own code here, FILE.py:") and repr(name) in said
