"""`unbraid select`, src/unbraid/cli/select.py."""

from pathlib import Path

from tests.commandline import CommandLine


def test_select_ranks_models(unbraid: CommandLine, study_folder: Path) -> None:
    words = ("select", study_folder, "--num-samples", 60, "--device", "cpu")
    found = unbraid(*words, "--by", "udr", "--json").json
    assert found["by"] == "udr" and len(found["models"]) == 4 and len(found["settings"]) == 2
    lines = unbraid(*words).out.splitlines()
    assert lines[4:6] == ["", "Settings (mean ± standard deviation over seeds):"] and len(lines) == 8
    assert all("±" in line and "2 seeds" in line for line in lines[6:])
    assert "no criterion 'mig'" in unbraid(*words, "--by", "mig").sentence
