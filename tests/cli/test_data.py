"""`unbraid data`, src/unbraid/cli/data.py."""

from pathlib import Path

import pytest

from tests.commandline import CommandLine
from unbraid.data.links import Link


def test_check_and_download(unbraid: CommandLine, tmp_path: Path) -> None:
    assert "sprites" in unbraid("data", "check", "sprites").out
    assert unbraid("data", "check", "sprites", "--json").json["intact"] is True
    assert unbraid("data", "download", "sprites").out.endswith("needs no download.\n")
    assert unbraid("data", "download", "rooms", "--json").json == {"name": "rooms", "path": None}
    assert "dsprites" in unbraid("data", "check", "dsprites", "--data-root", tmp_path).sentence
    assert (
        "mpi3d_toy" in unbraid("data", "check", "mpi3d", "--variant", "toy", "--data-root", tmp_path).sentence
    )
    assert "no option variant" in unbraid("data", "check", "dsprites", "--variant", "toy").sentence


def test_links_are_printed_as_a_table(unbraid: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    alive = Link("mpi3d", "mpi3d/a.npz", "https://example.org/a.npz", "ok, 1.0 GB", True)
    dead = Link(
        "emnist", "emnist/b.zip", "https://example.org/b.zip", "dead: it answers 404 Not Found", False
    )
    monkeypatch.setattr("unbraid.data.check_links", lambda name: [alive])
    answer = unbraid("data", "check", "--links")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()] == ["dataset", "mpi3d"]
    monkeypatch.setattr("unbraid.data.check_links", lambda name: [alive, dead])
    answer = unbraid("data", "check", "--links")
    assert answer.code == 1 and answer.out.endswith(
        "https://example.org/b.zip  dead: it answers 404 Not Found\n"
    )
    answer = unbraid("data", "check", "--links", "--json")
    assert answer.code == 1 and [link["is_alive"] for link in answer.json] == [True, False]
    monkeypatch.undo()
    assert unbraid("data", "check", "sprites", "--links").out == "sprites needs no files.\n"
    assert "Name a dataset" in unbraid("data", "check").sentence


def test_without_a_network_there_is_one_sentence(
    unbraid: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(address: object) -> tuple[str, bool, bool]:
        return "dead: it cannot be reached: no route", False, True

    monkeypatch.setattr("unbraid.data.links._ask", unreachable)
    assert "addresses can be reached" in unbraid("data", "check", "--links").sentence


def test_an_interrupted_download_says_how_to_resume(
    unbraid: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt("The download of x is interrupted. The same command resumes it.")

    monkeypatch.setattr("unbraid.data.download_dataset", interrupted)
    answer = unbraid("data", "download", "dsprites")
    assert answer.code == 130
    assert answer.err == "unbraid: The download of x is interrupted. The same command resumes it.\n"
