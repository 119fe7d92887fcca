"""`unbraid evaluate`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unbraid.evaluate import available_metrics, dataset_of, evaluate
from unbraid.model import load
from unbraid.runs import Run


def evaluate_run(
    folder: Path, metrics: Sequence[str], *, root: Path | None, device: str, **how: Any
) -> list[dict[str, Any]]:
    """Scores a run folder and keeps the scores in it."""
    run = Run(folder)
    dataset = dataset_of(run, root)
    method = load(folder, device=device).method
    wanted = list(available_metrics()) if list(metrics) == ["all"] else metrics
    scores = evaluate(method, dataset, wanted, **how)
    run.add_scores(scores)
    return scores
