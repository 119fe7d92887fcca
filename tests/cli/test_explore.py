"""`unbraid explore`, without a browser, src/unbraid/cli/explore.py."""

from pathlib import Path

import pytest

from tests.commandline import CommandLine


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the browser was opened with."""
    addresses: list[str] = []
    monkeypatch.setattr("webbrowser.open", addresses.append)
    return addresses


def test_explore_writes_a_page_and_opens_it(
    unbraid: CommandLine, trained: Path, tmp_path: Path, opened: list[str]
) -> None:
    path = trained / "explorer.html"
    assert unbraid("explore", trained).out == f"Written to {path}.\n"
    assert path.exists() and opened == [path.as_uri()]
    other = tmp_path / "other.html"
    found = unbraid("explore", trained, "--out", other, "--examples", 5, "--json").json
    assert found == {"out": str(other)} and other.exists()
    assert unbraid("explore", trained, "--no-open").code == 0
    assert len(opened) == 1


def test_mistakes_are_one_sentence(unbraid: CommandLine, trained: Path, tmp_path: Path) -> None:
    assert "is not a run folder" in unbraid("explore", tmp_path).sentence
    assert "--serve" in unbraid("explore", trained, "--max-size-mb", 0.1).sentence
    assert "--max-size-mb must be above 0; got 0" in unbraid("explore", trained, "--max-size-mb", 0).sentence
    assert "examples must be from 2 to 128" in unbraid("explore", trained, "--examples", 1000).sentence
    assert "leave out --out" in unbraid("explore", trained, "--serve", "--json").sentence
    assert "--allow-remote" in unbraid("explore", trained, "--serve", "--host", "0.0.0.0").sentence
    (trained / "finished.json").unlink()
    assert "--resume" in unbraid("explore", trained).sentence


def test_options_of_the_server_need_it(unbraid: CommandLine, trained: Path) -> None:
    for words in (("--port", 8000), ("--host", "localhost"), ("--allow-remote",)):
        assert "are options of --serve" in unbraid("explore", trained, "--no-open", *words).sentence
