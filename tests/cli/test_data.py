"""`unbraid data`, src/unbraid/cli/data.py."""

from pathlib import Path

from tests.commandline import CommandLine


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
