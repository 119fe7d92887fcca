"""Figures that read DCI, src/unbraid/report/factor_charts.py; tests/report/test_run_figures.py draws them."""

from pathlib import Path

from tests.run_files import score_entry
from unbraid.data import sprites
from unbraid.data.dataset import Dataset
from unbraid.report.factor_charts import annotated_quantiles, correlated_factors, stored_importances
from unbraid.runs.folder import Run
from unbraid.runs.model import Model, load


def scored(folder: Path, importances: list[list[float]]) -> Model:
    Run(folder).add_scores([score_entry("dci", 0.5, evidence={"importances": importances})])
    return load(folder, device="cpu")


def test_importances_are_those_of_the_score(folder: Path, dataset: Dataset) -> None:
    assert stored_importances(load(folder, device="cpu"), dataset) == {}
    table = [[0.1 * (row + 1)] * 5 for row in range(4)]
    found = stored_importances(scored(folder, table), dataset)
    assert list(found) == ["shape", "scale", "orientation", "pos_x", "pos_y"]
    assert found["scale"].tolist() == [row[1] for row in table]


def test_a_score_of_other_rows_or_factors_is_not_used(folder: Path, dataset: Dataset) -> None:
    assert stored_importances(scored(folder, [[0.5] * 5] * 3), dataset) == {}
    assert stored_importances(scored(folder, [[0.5] * 4] * 4), dataset) == {}


def test_quantiles_have_notes_only_with_a_score(folder: Path, dataset: Dataset) -> None:
    plain = annotated_quantiles(load(folder, device="cpu"), dataset)
    assert all(row.note == "" for row in plain.rows)
    table = [[1.0 if row == factor % 4 else 0.0 for factor in range(5)] for row in range(4)]
    noted = annotated_quantiles(scored(folder, table), dataset)
    assert {row.label: row.note for row in noted.rows} == {
        "dimension 0": "shape and pos_y",
        "dimension 1": "scale",
        "dimension 2": "orientation",
        "dimension 3": "pos_x",
    }


def test_correlated_factors_are_read_from_the_options() -> None:
    assert correlated_factors(sprites(image_size=16)) == ()
    dataset = sprites(image_size=16).replace(origin={"name": "sprites", "options": {"correlate": ("a", "b")}})
    assert correlated_factors(dataset) == ("a", "b")
