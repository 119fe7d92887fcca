"""Studies, src/unbraid/studies/study.py."""

import csv
import importlib
import json
import shutil
from pathlib import Path

import pytest

from unbraid.cli.evaluate import evaluate_run
from unbraid.recipes import Recipe
from unbraid.runs.folder import Run
from unbraid.studies.jobs import finished_run
from unbraid.studies.plan import Plan, replace
from unbraid.studies.results import open_study
from unbraid.studies.study import study

BASE = Plan(
    "beta-vae",
    "sprites",
    {"image_size": 16, "latent_dim": 3, "architecture": "mlp-small", "steps": 2, "batch_size": 4},
    metrics=("reconstruction", "kl"),
    evaluation={"num_samples": 20},
)
PLANS = tuple(replace(BASE, beta=beta, seed=seed) for beta in (1.0, 4.0) for seed in (0, 1))


def recipe(*plans: Plan) -> Recipe:
    return Recipe("own", "", plans or PLANS, {("beta-vae", "kl"): 12.5})


def test_a_study_writes_one_row_per_score_and_means_over_seeds(tmp_path: Path) -> None:
    result = study(recipe(), tmp_path, device="cpu", quiet=True)
    assert result.failures == []
    with open(tmp_path / "results.csv") as file:
        records = list(csv.DictReader(file))
    kl = [record for record in records if record["metric"] == "kl"]
    assert len(kl) == 4 and {record["seed"] for record in kl} == {"0", "1"}
    rows = [row for row in result.rows if row.metric == "kl"]
    assert [row.settings for row in rows] == [{"beta": 1.0}, {"beta": 4.0}]
    values = [float(record["value"]) for record in kl if '"beta": 1.0' in record["settings"]]
    assert rows[0].mean == pytest.approx(sum(values) / 2)
    assert rows[0].std == pytest.approx(abs(values[0] - values[1]) / 2**0.5)
    assert rows[0].n == 2 and rows[0].published == 12.5
    table = (tmp_path / "table.md").read_text()
    assert "(n=2) [12.5]" in table and "beta 4.0" in table and "published values in brackets" in table


def test_evaluation_can_be_skipped_and_done_elsewhere(tmp_path: Path) -> None:
    twice = [*PLANS, *(replace(plan, evaluation={"num_samples": 30}) for plan in PLANS)]  # of one run each
    result = study(recipe(*twice), tmp_path / "here", device="cpu", skip_eval=True, population=2, quiet=True)
    trained = {path: path.read_bytes() for path in tmp_path.glob("here/runs/*/model.safetensors")}
    assert len(trained) == 4 and result.rows == result.failures == []
    assert not list(tmp_path.glob("here/runs/*/scores.json"))
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    result = study(recipe(*twice), tmp_path / "there", device="cpu", quiet=True)
    assert result.failures == [] and {row.n for row in result.rows} == {2} and len(result.rows) == 8
    assert {
        path.parent.name: path.read_bytes() for path in tmp_path.glob("there/runs/*/model.safetensors")
    } == {path.parent.name: weights for path, weights in trained.items()}


def test_finished_runs_are_never_repeated(tmp_path: Path) -> None:
    study(recipe(), tmp_path, device="cpu", quiet=True)
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/*.safetensors")}
    scores = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/scores.json")}
    assert len(scores) == 4
    study(recipe(), tmp_path, device="cpu", quiet=True)
    assert all(path.stat().st_mtime_ns == before for path, before in (stamps | scores).items())


def test_a_run_that_was_killed_is_finished_and_a_missing_score_added(tmp_path: Path) -> None:
    study(recipe(PLANS[0]), tmp_path, device="cpu", quiet=True)
    (folder,) = (tmp_path / "runs").iterdir()
    (folder / "model.safetensors").unlink()
    (folder / "scores.json").unlink()
    result = study(recipe(PLANS[0]), tmp_path, device="cpu", quiet=True)
    assert Run(folder).finished and result.failures == []
    more = replace(PLANS[0], metrics=("reconstruction", "kl", "active_dims"))
    result = study(recipe(more), tmp_path, device="cpu", quiet=True)
    assert "active_dims" in {row.metric for row in result.rows}


def test_scores_with_other_evaluation_arguments_do_not_count(tmp_path: Path) -> None:
    study(recipe(*PLANS[:2]), tmp_path, device="cpu", quiet=True)
    for folder in (tmp_path / "runs").iterdir():
        evaluate_run(folder, ["kl"], root=None, device="cpu", num_samples=20, seed=5)
    again = study(recipe(*PLANS[:2]), tmp_path, device="cpu", quiet=True)
    assert [row.n for row in again.rows if row.metric == "kl"] == [2]
    larger = study(
        recipe(*(replace(plan, evaluation={"num_samples": 30}) for plan in PLANS[:2])),
        tmp_path,
        device="cpu",
        quiet=True,
    )
    assert [row.n for row in larger.rows if row.metric == "kl"] == [2]
    with open(tmp_path / "results.csv") as file:
        assert {record["n"] for record in csv.DictReader(file)} == {"30"}


def test_a_run_that_fails_is_recorded_and_does_not_stop_the_others(tmp_path: Path) -> None:
    broken = replace(BASE, beta=-1.0)
    result = study(recipe(broken, PLANS[0]), tmp_path, device="cpu", quiet=True)
    assert len(result.failures) == 1 and "beta must be" in result.failures[0]["error"]
    assert {row.metric for row in result.rows} >= {"reconstruction", "kl"}
    recorded = json.loads((tmp_path / "failures.json").read_text())
    assert "Traceback" in recorded[0]["traceback"] and recorded[0]["plan"] == str(broken)


def test_a_study_in_one_process_stops_when_its_device_is_unusable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.import_module("unbraid.studies.study"), "is_usable", lambda _: False)
    broken = replace(BASE, beta=-1.0)
    result = study(recipe(PLANS[0], broken, PLANS[1]), tmp_path, device="cpu")
    assert [failure["plan"] for failure in result.failures] == [str(broken)]
    assert finished_run(PLANS[0], tmp_path / "runs") and not finished_run(PLANS[1], tmp_path / "runs")
    assert "The CUDA device is unusable after this error" in capsys.readouterr().err
    monkeypatch.undo()
    study(recipe(PLANS[0], broken, PLANS[1]), tmp_path, device="cpu", quiet=True)
    assert finished_run(PLANS[1], tmp_path / "runs")


def test_a_misspelled_option_is_refused_before_the_first_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no option of the method beta-vae on the dataset sprites 'betta'"):
        study(recipe(PLANS[0], replace(BASE, betta=1.0)), tmp_path / "study", quiet=True)
    assert not (tmp_path / "study").exists()


def test_a_misspelled_metric_is_refused_before_the_first_run(tmp_path: Path) -> None:
    wrong = replace(PLANS[1], metrics=("kl", "codes:migg"))
    with pytest.raises(ValueError, match="no metric 'migg'; did you mean mig"):
        study(recipe(PLANS[0], wrong), tmp_path / "study", quiet=True)
    assert not (tmp_path / "study").exists()


def test_a_misspelled_evaluation_option_is_refused_before_the_first_run(tmp_path: Path) -> None:
    wrong = replace(PLANS[1], evaluation={"num_sample": 10})
    with pytest.raises(
        ValueError, match="no option of the evaluation of a plan 'num_sample'; did you mean num_samples"
    ):
        study(recipe(PLANS[0], wrong), tmp_path / "study", quiet=True)
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize("option", ["device", "eval_device"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_misspelled_device_is_refused_before_the_first_run(
    option: str, workers: int, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="no device 'gpu'"):
        study(recipe(PLANS[0]), tmp_path / "study", **{option: "gpu"}, workers=workers, quiet=True)
    assert not (tmp_path / "study").exists()


def test_a_repeated_run_is_refused_whatever_its_metrics(tmp_path: Path) -> None:
    """It would count twice in every mean; only other evaluation arguments make another row."""
    for again in (replace(PLANS[0]), replace(PLANS[0], metrics=("kl",)), replace(PLANS[0], beta=1)):
        with pytest.raises(
            ValueError,
            match=r"must differ, and two are the same: unbraid train beta-vae",
        ):
            study(recipe(PLANS[0], again), tmp_path / "study", quiet=True)
    assert not (tmp_path / "study").exists()


def test_a_study_evaluates_on_another_split_and_shows_further_published_numbers(tmp_path: Path) -> None:
    plan = Plan(
        "cnn",
        "credit",
        {"observations": 60, "architecture": "mlp", "steps": 2, "batch_size": 8},
        metrics=("group_accuracy",),
        evaluation={"num_samples": 0, "on": {"split": "test", "observations": 80}},
    )
    published = {
        ("cnn", "credit", "feature_dim=8", "group_accuracy.worst"): 0.75,
        ("cnn", "group_accuracy"): 0.5,
    }
    plans = (replace(plan, feature_dim=8), replace(plan, feature_dim=16))
    result = study(Recipe("own", "", plans, published), tmp_path, device="cpu", quiet=True)
    assert result.failures == []
    found = {(row.settings["feature_dim"], row.metric): row.published for row in result.rows}
    assert found[8, "group_accuracy.worst"] == 0.75 and found[16, "group_accuracy.worst"] is None
    assert found[16, "group_accuracy"] == 0.5
    table = (tmp_path / "table.md").read_text()
    assert "group_accuracy.worst" in table and "worst_fine" not in table
    with open(tmp_path / "results.csv") as file:
        records = list(csv.DictReader(file))
    assert {record["on"] for record in records} == {"credit --split test --observations 80"}
    assert {record["n"] for record in records} == {"80"}


def test_fewer_seeds_are_the_first_of_each_setting_and_finished_others_stay(tmp_path: Path) -> None:
    recipe = Recipe("mine.py", "", PLANS, {})
    first = study(recipe, tmp_path, seeds=1, device="cpu", quiet=True)
    assert {row.n for row in first.rows} == {1} and len(first.rows) == 4
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {
        plan.folder_name for plan in PLANS if plan.options["seed"] == 0
    }
    assert open_study(tmp_path).seeds == 1
    both = study(recipe, tmp_path, device="cpu", quiet=True)
    assert {row.n for row in both.rows} == {2} and open_study(tmp_path).seeds is None
    again = study(recipe, tmp_path, seeds=1, device="cpu", quiet=True)
    assert again.rows == both.rows
    with pytest.raises(ValueError, match="at least 1 seed per setting; got 0"):
        study(recipe, tmp_path, seeds=0, device="cpu", quiet=True)


def test_without_training_only_trained_runs_are_evaluated(tmp_path: Path) -> None:
    recipe = Recipe("mine.py", "", PLANS[:2], {})
    study(recipe, tmp_path, seeds=1, skip_eval=True, device="cpu", quiet=True)
    result = study(recipe, tmp_path, skip_training=True, device="cpu", quiet=True)
    assert {row.n for row in result.rows} == {1} and not result.failures
    assert len(list((tmp_path / "runs").iterdir())) == 1
    with pytest.raises(ValueError, match="cannot skip both training and evaluation"):
        study(recipe, tmp_path, skip_training=True, skip_eval=True, device="cpu", quiet=True)
