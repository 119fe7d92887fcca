"""Files of a study's folder, src/unbraid/studies/results.py."""

import json
import random
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks.faults.damage import damage_bytes, damage_json, restore
from tests.small_study import BASE, BROKEN, PLANS, PUBLISHED, small_study
from unbraid.optimizers import Adam
from unbraid.recipes import Recipe, read_recipe
from unbraid.studies.aggregate import COLUMNS, score_run
from unbraid.studies.compare import compare_methods
from unbraid.studies.plan import replace
from unbraid.studies.results import StudyFolder, open_study, read_records, results, write_results
from unbraid.studies.tables import markdown


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_study(tmp_path_factory.mktemp("results") / "study", (*PLANS[:3], BROKEN))


def test_a_study_is_read_back_from_its_folder(folder: Path) -> None:
    found = open_study(folder)
    assert [plan for plan, _ in found.finished] == list(PLANS[:3])
    assert (found.recipe, found.num_plans, found.published) == ("mine.py", 4, PUBLISHED)
    assert [failure["plan"] for failure in found.failures] == [str(BROKEN)]
    assert markdown(found.rows, found.published) == (folder / "table.md").read_text()
    assert [row.published for row in found.rows if row.metric == "mig"] == [None, 0.2135]


def test_options_that_are_plain_values_come_back_too(tmp_path: Path) -> None:
    plan = replace(
        BASE, optimizer=Adam(1e-2), evaluation={"num_samples": 30, "on": {"fixed_factors": ("shape",)}}
    )
    run = plan.run(tmp_path / "runs" / plan.folder_name, quiet=True, device="cpu")
    write_results(tmp_path, Recipe("mine.py", "", (plan,), {}), [score_run(plan, run)], [])
    ((found, _),) = open_study(tmp_path).finished
    assert found == plan and found.identity == plan.identity


def test_records_have_their_types(folder: Path) -> None:
    records = read_records(folder)
    assert records == open_study(folder).records
    assert tuple(records[0]) == COLUMNS and isinstance(records[0]["seed"], int)
    directions = {record["metric"]: record["higher_is_better"] for record in records}
    assert [directions[metric] for metric in ("mig", "reconstruction", "kl", "mig.rmig")] == [
        True,
        False,
        None,
        True,
    ]
    rows = {row.metric: row.higher_is_better for row in open_study(folder).rows}
    assert rows == directions
    assert "**" in (folder / "table.md").read_text()


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
    with pytest.raises(ValueError, match=r"need pandas. Run `pip install unbraid\[analysis\]`"):
        results(folder)


def test_a_folder_of_another_format_is_refused(folder: Path, tmp_path: Path) -> None:
    settings = json.loads((folder / "study.json").read_text())
    (tmp_path / "study.json").write_text(json.dumps(settings | {"format": 7}))
    for read in (open_study, read_records):
        with pytest.raises(ValueError, match="must be in study format 1, and is in 7"):
            read(tmp_path)
    (tmp_path / "study.json").write_text("{")
    with pytest.raises(ValueError, match="not readable as JSON"):
        open_study(tmp_path)
    (tmp_path / "study.json").write_text(json.dumps(settings))
    with pytest.raises(FileNotFoundError, match=r"results\.csv does not exist"):
        read_records(tmp_path)
    (tmp_path / "results.csv").write_text("method,score\nvae,1\n")
    with pytest.raises(ValueError, match="must have the columns method, data"):
        read_records(tmp_path)
    with pytest.raises(FileNotFoundError, match="is not a study folder"):
        open_study(tmp_path / "nowhere")


def test_the_command_names_recipe_and_scale(tmp_path: Path) -> None:
    def command(recipe: str, scale: str = "quick", **other: int) -> str:
        return StudyFolder(Path("out"), recipe, "", scale, recipe != "own", 0, [], [], {}, **other).command

    assert command("vae-family/sweep", "paper") == "unbraid study vae-family/sweep --scale paper --out out"
    assert command("mine.py") == "unbraid study mine.py --out out"
    assert command("own") == ""
    assert command("mine.py", seeds=3, threads=2) == "unbraid study mine.py --seeds 3 --threads 2 --out out"
    assert read_recipe("vae-family/sweep", "paper").scale == "paper"


def read(folder: Path) -> None:
    """Everything that commands read from a study, but for its runs."""
    opened = open_study(folder)
    _ = opened.rows, opened.command, opened._repr_html_(), compare_methods(read_records(folder))


@pytest.mark.parametrize("name", ["study.json", "results.csv", "failures.json"])
def test_damaged_files_get_one_sentence(name: str, folder: Path, tmp_path: Path) -> None:
    """Nothing but ValueError and OSError with the name of the file, whatever the damage."""
    copy, found = Path(shutil.copytree(folder, tmp_path / "study")), 0
    for seed in range(40):
        rng = random.Random(seed)
        damage = damage_json if name.endswith(".json") and rng.random() < 0.9 else damage_bytes
        damage(copy / name, rng)
        try:
            read(copy)
        except (ValueError, OSError) as error:
            assert str(error).endswith(".") and "\n" not in str(error) and "[Errno" not in str(error), error
            found += 1
        finally:
            restore(copy / name, folder / name)
    assert found > 15


def test_a_damaged_run_fails_and_the_others_continue(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", PLANS[:2])
    first, second = (folder / "runs" / plan.folder_name for plan in PLANS[:2])
    (first / "scores.json").write_text('[{"metric": 3}]')
    (second / "scores.json").unlink()
    (folder / "results.csv").unlink()
    small_study(folder, PLANS[:2])
    (failure,) = open_study(folder).failures
    assert (
        "scores.json lacks [0].protocol" in failure["error"]
        or "[0].metric must be a text" in failure["error"]
    )
    assert {record["run"] for record in read_records(folder)} == {second.name}
