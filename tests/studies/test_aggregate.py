"""Scores over seeds, src/unbraid/studies/aggregate.py."""

import time
from pathlib import Path

from unbraid.recipes import Recipe
from unbraid.studies.aggregate import aggregate, varying_options
from unbraid.studies.plan import Plan
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
