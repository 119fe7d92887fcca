"""Scores of a run as evaluation stored them: pages read scores and compute none."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from unbraid.runs import Run


def stored_score(run: Run | None, metric: str, *, evidence: bool = False) -> Mapping[str, Any] | None:
    """The latest score of a metric, on the training dataset if there is one; None without a score.

    Args:
        run: The run; None for a model without a run.
        metric: Name of the metric with its strand, such as `codes:spectrum`.
        evidence: Whether the score must have evidence.
    """
    if run is None:
        return None
    scores = [
        score
        for score in run.scores()
        if score["metric"] == metric and (not evidence or score.get("evidence"))
    ]
    on_training_data = [score for score in scores if "on" not in score]
    return next(reversed(on_training_data or scores), None)


def evidence_table(score: Mapping[str, Any], name: str, dims: int) -> Float[np.ndarray, "..."]:
    """A table of a score's evidence as numbers, NaN for those that are not finite; raises for a damaged one."""
    try:
        table = np.asarray(score["evidence"][name], dtype=float)
    except (KeyError, TypeError, ValueError):
        table = np.zeros(())
    if table.ndim != dims:
        raise ValueError(
            f"The evidence of the stored score {score['metric']} is damaged: its {name} must be a table of "
            f"numbers with {dims} {'axis' if dims == 1 else 'axes'}. Evaluate the run again."
        )
    return table
