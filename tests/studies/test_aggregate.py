"""Scores over seeds, src/unbraid/studies/aggregate.py."""

import time
from pathlib import Path

import pytest

from tests.small_study import BASE
from unbraid.recipes import Recipe
from unbraid.runs import Run
from unbraid.studies.aggregate import aggregate, varying_options
from unbraid.studies.compare import compare_methods
from unbraid.studies.plan import Plan, replace
from unbraid.studies.results import read_records
from unbraid.studies.study import study
from unbraid.studies.tables import markdown


def test_one_run_evaluated_on_two_datasets_has_two_rows(tmp_path: Path) -> None:
    options = {"observations": 60, "architecture": "mlp", "steps": 2, "batch_size": 8}
    first, second = (
        Plan("cnn", "credit", options, ("group_accuracy",), {"num_samples": 0, "on": {"observations": n}})
        for n in (80, 90)
    )
    published = {("cnn", "credit", "on=credit --observations 90", "group_accuracy"): 0.25}
    result = study(Recipe("own", "", (first, second), published), tmp_path, device="cpu", quiet=True)
    assert len(list((tmp_path / "runs").iterdir())) == 1
    rows = [row for row in result.rows if row.metric == "group_accuracy"]
    assert [row.n for row in rows] == [1, 1] and [row.published for row in rows] == [None, 0.25]
    assert [row.settings["on"] for row in rows] == [f"credit --observations {n}" for n in (80, 90)]


def test_one_run_scored_at_several_lengths_has_a_row_each_and_a_column_of_steps(tmp_path: Path) -> None:
    """The scores at a length are those of a run that ended there, and the run is trained once."""
    base = replace(BASE, metrics=("reconstruction",), steps=6, keep_weights=(2, 4))
    lengths = [replace(base, evaluation={**BASE.evaluation, "steps": steps}) for steps in (2, 4)]
    shorter = replace(base, steps=4, keep_weights=())
    result = study(Recipe("own", "", (*lengths, base), {}), tmp_path / "long", device="cpu", quiet=True)
    assert not result.failures and len(list((tmp_path / "long" / "runs").iterdir())) == 1
    assert [row.settings for row in result.rows] == [{"steps": steps} for steps in (2, 4, 6)]
    (found,) = study(Recipe("own", "", (shorter,), {}), tmp_path / "short", device="cpu", quiet=True).rows
    assert found.mean == result.rows[1].mean != result.rows[2].mean
    lines = markdown(result.rows).splitlines()
    assert lines[0].startswith("| method | data | steps | reconstruction (")
    assert [line.split(" | ")[2] for line in lines[2:5]] == ["2", "4", "6"]
    records = read_records(tmp_path / "long")
    run = Run(tmp_path / "long" / "runs" / base.folder_name)
    assert [(one["steps"], one["weights"]) for one in records] == [(n, run.sha256(n)) for n in (2, 4, 6)]
    names = {comparison.first for comparison in compare_methods(records)}
    assert names | {one.second for one in compare_methods(records)} == {
        f"beta-vae steps={n}" for n in (2, 4, 6)
    }
    again = study(Recipe("own", "", (*lengths, base), {}), tmp_path / "long", device="cpu", quiet=True)
    assert again.rows == result.rows and [score["steps"] for score in run.scores(2)] == [2]


def test_lengths_that_a_run_does_not_keep_are_refused_before_it_starts(tmp_path: Path) -> None:
    plan = replace(BASE, keep_weights=(2,), evaluation={"steps": 1})
    with pytest.raises(ValueError, match="is evaluated at step 1 and does not keep its weights"):
        study(Recipe("own", "", (plan,), {}), tmp_path / "study", device="cpu", quiet=True)
    assert not (tmp_path / "study").exists()


def test_one_seed_has_no_standard_deviation(tmp_path: Path) -> None:
    options = {"image_size": 16, "latent_dim": 3, "architecture": "mlp-small", "steps": 2, "batch_size": 4}
    plan = Plan("beta-vae", "sprites", options, ("kl",), {"num_samples": 20})
    result = study(Recipe("own", "", (plan,), {}), tmp_path, device="cpu", quiet=True)
    assert all(row.std is None and row.n == 1 for row in result.rows)
    assert "±" not in markdown(result.rows).splitlines()[2]


def test_without_finished_runs_there_are_no_rows() -> None:
    assert aggregate([]) == []


def test_options_that_some_plans_lack_vary_and_the_seed_does_not() -> None:
    plans = [
        Plan("vae", "sprites", options) for options in ({"a": 1, "seed": 0}, {"a": 1, "b": 2, "seed": 1})
    ]
    assert varying_options(plans) == {"vae": {"b"}}


def test_varying_options_take_linear_time() -> None:
    plans = [Plan("vae", "sprites", {"beta": float(index % 50), "seed": index}) for index in range(20_000)]
    began = time.perf_counter()
    assert varying_options(plans) == {"vae": {"beta"}}
    assert time.perf_counter() - began < 5
