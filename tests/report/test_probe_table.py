"""The table of linear probes per strand, src/unbraid/report/probe_table.py."""

import re
from pathlib import Path

import pytest

from unbraid.evaluation.evaluate import evaluate
from unbraid.objectives import Normal
from unbraid.report.page import write_report
from unbraid.report.probe_table import probe_table
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.runs.run_dataset import training_dataset
from unbraid.studies.plan import Plan


@pytest.fixture
def table(tmp_path: Path) -> Run:
    """UAI on the made-up table, which has nuisances."""
    options = {
        "observations": 300,
        "architecture": "mlp",
        "e1_dim": 4,
        "e2_dim": 3,
        "steps": 1,
        "batch_size": 8,
        "likelihood": Normal(),
    }
    return Plan("uai", "credit", options).run(tmp_path / "run", quiet=True, device="cpu")


def test_the_table_is_read_from_the_score(table: Run) -> None:
    assert probe_table(table) is None
    method, dataset = load(table.folder, device="cpu").method, training_dataset(table)
    names = [f"{strand}:factor_probe" for strand in ("e1", "e2")]
    scores = evaluate(method, dataset, ["strand_probes", *names], num_samples=0, num_test_samples=0)
    table.add_scores(scores)
    found = probe_table(table)
    assert found is not None and [strand for strand, _ in found.rows] == ["e1", "e2"]
    assert found.n + found.n_test == len(dataset) and found.dataset == ""
    assert (found.factors[0][0], found.factors[0][1]) == (dataset.label, "class")
    expected = {score["metric"]: score["value"] for score in scores}
    for strand, probes in found.rows:
        for probe, (name, _, chance) in zip(probes, found.factors, strict=True):
            assert probe.accuracy == expected[f"{strand}:factor_probe.accuracy.{name}"]
            assert chance == expected[f"{strand}:factor_probe.chance.{name}"]
            assert probe.share == pytest.approx(max(0.0, (probe.accuracy - chance) / (1 - chance)))


def test_the_page_says_which_command_computes_the_table(table: Run) -> None:
    page = write_report([table]).read_text()
    assert "Not shown without scores: Linear probes per strand." in page
    assert "unbraid evaluate RUN --metrics strand_probes" in re.sub(r"</?span>", "", page)
    assert 'id="probes"' not in page
    method, dataset = load(table.folder, device="cpu").method, training_dataset(table)
    on = {"on": "credit --split test"}
    table.add_scores([score | on for score in evaluate(method, dataset, ["strand_probes"], num_samples=200)])
    page = write_report([table]).read_text()
    assert "Not shown without scores" not in page and 'id="probes"' in page
    assert "test observations of credit --split test." in page


def test_data_without_nuisances_ask_for_no_probes(run: Run) -> None:
    assert probe_table(run) is None
    assert "Not shown without scores" not in write_report([run]).read_text()
