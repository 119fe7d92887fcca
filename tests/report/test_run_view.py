"""One run as a page shows it, src/unbraid/report/run_view.py; whole pages are in test_page.py."""

from pathlib import Path

from unbraid.report.run_view import about, labels_of, probe_accuracies, save_figures, view_run
from unbraid.runs.folder import Run
from unbraid.studies.plan import Plan


def test_a_subject_says_what_it_is(run: Run) -> None:
    view = view_run(run, "beta-vae")
    assert view.method == "β-VAE" and view.citation.startswith("Higgins et al., 2017")
    assert view.summary.startswith("20 steps of batch size 8 on sprites (737,280 images of 1×32×32), seed 0")
    assert set(view.figures) == {"reconstructions", "traversals", "swaps"} and view.missing == ""
    assert view.probe_table is None and not view.unscored.metrics  # sprites have no nuisances
    assert view.command.startswith("unbraid train beta-vae --data sprites")


def test_figures_are_kept_in_the_runs_folder(folder: Path) -> None:
    save_figures(view_run(Run(folder), "beta-vae"))
    assert {"swaps.png", "curve-loss.png", "kl.png"} <= {path.name for path in (folder / "figures").iterdir()}


def test_runs_of_one_method_are_told_apart(run: Run, folder: Path) -> None:
    assert labels_of([run]) == ["beta-vae"]
    assert labels_of([run, Run(folder)]) == ["beta-vae, run", "beta-vae, copy"]
    assert labels_of([run, run]) == ["beta-vae, run (1)", "beta-vae, run (2)"]


def test_a_run_without_parts_has_no_tables_of_them(run: Run) -> None:
    assert probe_accuracies(run) == {}


def test_a_method_of_ones_own_has_its_class_name_and_its_own_sentence(tmp_path: Path) -> None:
    file = Path(__file__).parent / "own_vae.py"
    options = {"architecture": "mlp-small", "latent_dim": 3, "steps": 1, "batch_size": 4}
    plan = Plan(f"{file}:OwnEncoder", f"{file}:bars", options)
    run = plan.run(tmp_path / "run", quiet=True, device="cpu")
    assert about(run) == ("OwnEncoder", "", "A method without a decoder.")


def test_the_accuracies_of_every_scored_strand_are_a_table(run: Run) -> None:
    class Scored(Run):
        def scores(self) -> list[dict[str, object]]:
            entries = {"r:disentanglement_gap": 0.5, "r:disentanglement_gap.accuracy.whole.digit": 0.9}
            entries |= {"r:disentanglement_gap.chance.digit": 0.1, "own:disentanglement_gap": 0.2}
            return [{"metric": metric, "value": value} for metric, value in entries.items()]

    tables = probe_accuracies(Scored(run.folder))
    assert tables == {"accuracy in %, strands of r": {"r.digit": 0.9, "chance.digit": 0.1}}
