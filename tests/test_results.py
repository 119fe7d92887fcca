"""What a study's runs scored, src/unbraid/results.py."""

from pathlib import Path

from unbraid.plan import Plan
from unbraid.recipes import Recipe
from unbraid.results import aggregate, markdown
from unbraid.study import study


def test_one_run_is_scored_on_two_sets_in_two_rows(tmp_path: Path) -> None:
    options = {"observations": 60, "architecture": "mlp", "steps": 2, "batch": 8}
    first, second = (
        Plan("cnn", "credit", options, ("group_accuracy",), {"samples": 0, "on": {"observations": n}})
        for n in (80, 90)
    )
    published = {("cnn", "credit", "on=credit --observations 90", "group_accuracy"): 0.25}
    result = study(Recipe("own", "", (first, second), published), tmp_path, device="cpu", quiet=True)
    assert len(list((tmp_path / "runs").iterdir())) == 1
    rows = [row for row in result.rows if row.metric == "group_accuracy"]
    assert [row.n for row in rows] == [1, 1] and [row.published for row in rows] == [None, 0.25]
    assert [row.settings["on"] for row in rows] == [f"credit --observations {n}" for n in (80, 90)]


def test_one_seed_has_no_spread(tmp_path: Path) -> None:
    options = {"size": 32, "codes": 3, "steps": 2, "batch": 4}
    plan = Plan("beta-vae", "sprites", options, ("kl",), {"samples": 20})
    result = study(Recipe("own", "", (plan,), {}), tmp_path, device="cpu", quiet=True)
    assert all(row.std is None and row.n == 1 for row in result.rows)
    assert "±" not in markdown(result.rows).splitlines()[2]


def test_nothing_done_gives_no_rows() -> None:
    assert aggregate([]) == []
