"""What a study's runs scored, src/unbraid/results.py."""

import json
import sys
from pathlib import Path

import pytest

from tests.small_study import BASE, BROKEN, PLANS, PUBLISHED, small_study
from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.recipes import Recipe, read_recipe
from unbraid.results import (
    COLUMNS,
    StudyFolder,
    aggregate,
    markdown,
    open_study,
    read_records,
    results,
    tidy,
    varying_options,
    write_results,
)
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_study(tmp_path_factory.mktemp("results") / "study", (*PLANS[:3], BROKEN))


def test_a_study_is_read_back_from_its_folder(folder: Path) -> None:
    found = open_study(folder)
    assert [plan for plan, _ in found.done] == list(PLANS[:3])
    assert (found.recipe, found.asked, found.published) == ("mine.py", 4, PUBLISHED)
    assert [failure["plan"] for failure in found.failures] == [str(BROKEN)]
    assert markdown(found.rows, found.published) == (folder / "table.md").read_text()
    assert [row.published for row in found.rows if row.metric == "mig"] == [None, 0.2135]


def test_options_that_are_plain_values_come_back_too(tmp_path: Path) -> None:
    plan = replace(BASE, optimiser=Adam(1e-2), scoring={"samples": 30, "on": {"fixed": ("shape",)}})
    run = plan.run(tmp_path / "runs" / plan.folder, quiet=True, device="cpu")
    write_results(tmp_path, Recipe("mine.py", "", (plan,), {}), [(plan, run)], [])
    ((found, _),) = open_study(tmp_path).done
    assert found == plan and found.identity == plan.identity


def test_records_have_their_types(folder: Path) -> None:
    records = read_records(folder)
    assert records == tidy(open_study(folder).done)
    assert tuple(records[0]) == COLUMNS and isinstance(records[0]["seed"], int)
    assert {record["metric"] for record in records} >= {"reconstruction", "kl", "mig"}


def test_results_are_a_data_frame_in_csv_and_in_parquet(folder: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="results as a DataFrame need the extra `analysis`")
    pytest.importorskip("pyarrow", reason="Parquet needs the extra `analysis`")
    frame = results(folder)
    assert list(frame.columns) == list(COLUMNS) and frame["value"].dtype == float
    assert set(frame.groupby("metric")["seed"].count()[["kl", "mig"]]) == {3}
    pandas.testing.assert_frame_equal(frame, pandas.read_parquet(folder / "results.parquet"))


def test_without_pandas_one_sentence_says_how_to_get_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["importlib.util"], "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"need pandas: install it with `pip install unbraid\[analysis\]`"):
        results(folder)


def test_a_folder_of_another_format_is_refused(folder: Path, tmp_path: Path) -> None:
    settings = json.loads((folder / "study.json").read_text())
    (tmp_path / "study.json").write_text(json.dumps(settings | {"format": 7}))
    for read in (open_study, read_records):
        with pytest.raises(ValueError, match="is in study format 7, and this Unbraid reads 1"):
            read(tmp_path)
    (tmp_path / "study.json").write_text("{")
    with pytest.raises(ValueError, match="not readable as JSON"):
        open_study(tmp_path)
    (tmp_path / "study.json").write_text(json.dumps(settings))
    with pytest.raises(FileNotFoundError, match=r"results\.csv does not exist"):
        read_records(tmp_path)
    (tmp_path / "results.csv").write_text("method,score\nvae,1\n")
    with pytest.raises(ValueError, match="other columns than this Unbraid writes"):
        read_records(tmp_path)
    with pytest.raises(FileNotFoundError, match="is not a study's folder"):
        open_study(tmp_path / "nowhere")


def test_the_command_names_recipe_and_scale(tmp_path: Path) -> None:
    def command(recipe: str, scale: str = "quick") -> str:
        return StudyFolder(Path("out"), recipe, "", scale, 0, [], [], {}).command

    assert command("vae-family/sweep", "paper") == "unbraid study vae-family/sweep --scale paper --out out"
    assert command("mine.py") == "unbraid study mine.py --out out"
    assert command("own") == ""
    assert read_recipe("vae-family/sweep", "paper").scale == "paper"


def test_options_that_some_plans_lack_vary_and_the_seed_does_not() -> None:
    plans = [
        Plan("vae", "sprites", options) for options in ({"a": 1, "seed": 0}, {"a": 1, "b": 2, "seed": 1})
    ]
    assert varying_options(plans) == {"vae": {"b"}}


def test_many_runs_are_told_apart_in_time_that_grows_with_their_number() -> None:
    import time

    plans = [Plan("vae", "sprites", {"beta": float(place % 50), "seed": place}) for place in range(20_000)]
    began = time.perf_counter()
    assert varying_options(plans) == {"vae": {"beta"}}
    assert time.perf_counter() - began < 5
