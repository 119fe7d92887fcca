"""Committed rows of scores, src/unbraid/studies/rows.py."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from tests.small_study import PLANS, PUBLISHED, small_study
from unbraid.recipes import Recipe
from unbraid.report import write_study_report
from unbraid.runs import Run
from unbraid.studies.aggregate import COLUMNS
from unbraid.studies.plan import replace
from unbraid.studies.results import open_study, read_records
from unbraid.studies.rows import CommittedRows, read_rows, rows_as_csv
from unbraid.studies.study import StudyResult, study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of the first three plans."""
    return small_study(tmp_path_factory.mktemp("rows") / "study", PLANS[:3])


@pytest.fixture(scope="module")
def rows(folder: Path) -> Path:
    return Path(shutil.copy(folder / "results.csv", folder.parent / "rows.csv"))


def of_all(out: Path, *rows: Path) -> StudyResult:
    recipe = Recipe("mine.py", "A small study.", PLANS[:4], PUBLISHED)
    return study(recipe, out, rows=rows, device="cpu", quiet=True)


def test_rows_say_where_each_score_comes_from(folder: Path, rows: Path) -> None:
    for record in read_rows(rows):
        run = Run(folder / "runs" / record["run"])
        assert (record["recipe"], record["steps"], record["weights"]) == ("mine.py", 3, run.sha256())
        assert record["weights"] and record["evaluation"] and record["seed"] == run.seed
        assert record["commit"] == run.versions().get("commit", "")


def test_a_study_runs_only_what_has_no_rows_and_shows_both(folder: Path, rows: Path, tmp_path: Path) -> None:
    result = of_all(tmp_path / "study", rows)
    assert not result.failures
    assert [path.name for path in (tmp_path / "study" / "runs").iterdir()] == [PLANS[3].folder_name]
    whole = of_all(tmp_path / "whole")
    assert result.rows == whole.rows
    assert [row.n for row in result.rows if row.metric == "mig"] == [2, 2]
    first = [record for record in read_records(tmp_path / "study") if record["run"] != PLANS[3].folder_name]
    assert first == read_rows(rows)


def test_what_it_writes_can_be_read_committed_and_given_again(rows: Path, tmp_path: Path) -> None:
    """Also without any run of its own: a page, comparisons, and the rows of the next study."""
    of_all(tmp_path / "study", rows)
    written = tmp_path / "study" / "results.csv"
    again = of_all(tmp_path / "again", written)
    assert not list(tmp_path.glob("again/runs/*")) and (tmp_path / "again/results.csv").read_bytes() == (
        written.read_bytes()
    )
    opened = open_study(tmp_path / "again")
    assert opened.rows == again.rows and len(opened.scored) == 4 and not opened.finished
    page = write_study_report(tmp_path / "again").read_text()
    assert "4 of 4 done" in page and "from committed rows" in page


def test_a_plan_without_a_row_of_each_metric_is_run(rows: Path, tmp_path: Path) -> None:
    committed = CommittedRows([rows])
    assert committed.of(PLANS[0]) is not None and committed.of(PLANS[3]) is None
    assert committed.of(replace(PLANS[0], metrics=("mig", "sap"))) is None
    assert committed.of(replace(PLANS[0], evaluation={"num_samples": 50})) is None
    assert committed.of(replace(PLANS[0], steps=4)) is None
    assert CommittedRows().of(PLANS[0]) is None


def test_of_two_rows_of_one_score_the_later_file_counts(rows: Path, tmp_path: Path) -> None:
    records = [record | {"value": 7.0} for record in read_rows(rows)]
    (tmp_path / "later.csv").write_bytes(rows_as_csv(records))
    found = CommittedRows([rows, tmp_path / "later.csv"]).of(PLANS[0])
    assert found is not None and {record["value"] for record in found.records} == {7.0}


def test_damaged_rows_are_said_in_one_sentence(rows: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv does not exist\. Restore it"):
        of_all(tmp_path / "study", tmp_path / "nowhere.csv")
    path = tmp_path / "rows.csv"
    path.write_text("method,value\nvae,1\n")
    with pytest.raises(ValueError, match=r"must have the columns method, data, .*, weights, recipe, commit"):
        read_rows(path)
    with rows.open(newline="") as file:
        lines = list(csv.DictReader(file))
    for column, text in (("steps", "many"), ("value", "nan"), ("settings", json.dumps([1]))):
        path.write_bytes(rows_as_csv([lines[0], lines[1] | {column: text}]))
        with pytest.raises(ValueError, match=rf"{path.name}, row 2"):
            read_rows(path)
    assert tuple(lines[0]) == COLUMNS
