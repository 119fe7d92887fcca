"""Scores of the demo, src/unbraid/demo/trained.py."""

from pathlib import Path

import pytest
import torch

from tests.run_files import score_entry
from unbraid.demo.trained import TrainedPair, rename_rows, score_of
from unbraid.recipes.demo import DemoEntry, DemoPair
from unbraid.report.figures import Figure, Row
from unbraid.runs.folder import Run
from unbraid.studies.aggregate import evaluation_key
from unbraid.studies.plan import Plan

PLAN = Plan(
    "beta-vae",
    "sprites",
    {"image_size": 16, "architecture": "mlp-small", "latent_dim": 2, "steps": 1, "batch_size": 2},
)
ENTRY = DemoEntry(PLAN, "mig")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return PLAN.run(tmp_path / "run", quiet=True, device="cpu")


def score(value: float, key: str) -> dict[str, object]:
    return score_entry("mig", value, evaluation=key, higher_is_better=True)


def test_the_score_is_the_last_one_with_the_plans_evaluation(run: Run) -> None:
    with pytest.raises(ValueError, match=r"has no score mig\. Run the demo again"):
        score_of(ENTRY, run)
    for value, key in ((0.25, evaluation_key(PLAN)), (0.75, "of another study")):
        run.add_scores([score(value, key)])
    assert score_of(ENTRY, Run(run.folder))["value"] == 0.25


def test_a_pair_has_both_scores_and_a_description_of_both_runs(run: Run) -> None:
    run.add_scores([score(0.25, evaluation_key(PLAN))])
    trained = TrainedPair(DemoPair(ENTRY, ENTRY), Run(run.folder), Run(run.folder))
    headline = trained.headline_score("MIG", "baseline", "Mutual information gap.", chance=0.1)
    assert (headline.system, headline.baseline, headline.chance) == (0.25, 0.25, 0.1)
    assert headline.higher_is_better is True
    (sentence, command), _ = trained.descriptions()
    assert "on sprites, 1 steps" in sentence and command == f"{PLAN} --out RUN"


def test_rows_are_renamed() -> None:
    figure = rename_rows(Figure((Row("z0", torch.zeros(1, 1, 2, 2), "note"),)), ("a strand",), "Caption.")
    assert [(row.label, row.note) for row in figure.rows] == [
        ("a strand", "")
    ] and figure.caption == "Caption."
