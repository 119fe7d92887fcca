"""What strands give away, src/unbraid/report/probe_table.py."""

from pathlib import Path

import pytest

from unbraid.data.dataset import Dataset
from unbraid.objectives import Normal
from unbraid.report.probe_table import probe_table
from unbraid.runs.folder import Run
from unbraid.runs.model import Model, load
from unbraid.runs.run_dataset import training_dataset
from unbraid.studies.plan import Plan


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """UAI on the made-up table, which has nuisances."""
    options = {
        "observations": 300,
        "architecture": "mlp",
        "e1_dim": 4,
        "e2_dim": 3,
        "steps": 1,
        "batch_size": 8,
    }
    options |= {"likelihood": Normal()}
    folder = tmp_path_factory.mktemp("probe_table") / "run"
    return Plan("uai", "credit", options).run(folder, quiet=True, device="cpu")


def test_every_strand_is_probed_for_class_and_nuisances(table: Run) -> None:
    model, dataset = load(table.folder, device="cpu"), training_dataset(table)
    found = probe_table(table, model, dataset)
    assert found is not None
    assert [strand for strand, _ in found.rows] == ["e1", "e2"]
    roles = {name: role for name, role, _ in found.factors}
    assert roles[dataset.label or ""] == "class" and set(dataset.nuisances) <= set(roles)
    assert found.n + found.n_test == 300 and found.n_test > 80
    for _, reads in found.rows:
        for read, (_, _, chance) in zip(reads, found.factors, strict=True):
            assert read.share == pytest.approx(max(0.0, (read.accuracy - chance) / (1 - chance)))


def test_scores_that_are_there_are_used(table: Run, tmp_path: Path) -> None:
    model, dataset = load(table.folder, device="cpu"), training_dataset(table)

    class Scored(Run):
        def scores(self) -> list[dict[str, object]]:
            entry = {"n": 20, "n_test": 10, "protocol": "", "seed": 0}
            values = {"": 0.5, f".accuracy.{dataset.label}": 0.9, f".chance.{dataset.label}": 0.5}
            return [
                entry | {"metric": f"{strand}:factor_probe{name}", "value": value}
                for strand in ("e1", "e2")
                for name, value in values.items()
            ]

    found = probe_table(Scored(table.folder), model, dataset)
    assert found is not None and found.n == 20
    assert found.rows[0][1][0].accuracy == 0.9 and found.rows[0][1][0].share == pytest.approx(0.8)


def test_data_without_nuisances_have_no_leaks(run: Run, model: Model, dataset: Dataset) -> None:
    assert probe_table(run, model, dataset) is None
