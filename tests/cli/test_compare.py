"""`unbraid compare`, src/unbraid/cli/compare.py."""

from pathlib import Path

from tests.commandline import CommandLine
from tests.small_study import PLANS


def test_methods_of_a_study_are_compared(unbraid: CommandLine, study_folder: Path) -> None:
    found = unbraid("compare", study_folder, "--json").json
    assert {row["metric"] for row in found["comparisons"]} == {"reconstruction", "kl", "mig"}
    assert found["rank_correlations"][0]["runs"] == 4
    shown = unbraid("compare", study_folder, "--metric", "mig", "--method", "beta-vae beta=1.0").out
    assert shown.startswith("sprites, mig (") and "beta-vae beta=4.0" in shown and "over 2 seeds" in shown
    assert "Spearman" in unbraid("compare", study_folder).out
    assert "no score of the study 'mgi'" in unbraid("compare", study_folder, "--metric", "mgi").sentence


def test_two_runs_are_compared(unbraid: CommandLine, study_folder: Path) -> None:
    first, second = (study_folder / "runs" / plan.folder_name for plan in (PLANS[0], PLANS[2]))
    found = unbraid("compare", first, second, "--json").json
    assert found["settings"] == [["method.arguments.beta", "1.0", "4.0"]] and len(found["scores"]) > 3
    shown = unbraid("compare", first, second).out
    assert "method.arguments.beta" in shown and "kl (" in shown
    assert "The settings are identical." in unbraid("compare", first, first).out
    assert "takes two run folders, or one study folder" in unbraid("compare", first, second, first).sentence
    assert "takes two run folders" in unbraid("compare", first, second, "--metric", "kl").sentence
    assert "is not a study folder" in unbraid("compare", first).sentence
