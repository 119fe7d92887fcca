"""Linear probes per strand: accuracy for the class, for each nuisance and for all other factors."""

from typing import NamedTuple

from unbraid.files import require_schema
from unbraid.report.run_figures import PROBES
from unbraid.report.stored import evidence_table, stored_score
from unbraid.runs import Run

AGAIN = "Evaluate the run again."


class ProbeAccuracy(NamedTuple):
    """Accuracy of one probe."""

    accuracy: float
    share: float  # accuracy rescaled to 0 for chance and 1 for always correct


class ProbeTable(NamedTuple):
    """One row per strand, one column per factor."""

    # Name, role, and accuracy of predicting the most frequent value.
    factors: tuple[tuple[str, str, float], ...]
    rows: tuple[tuple[str, tuple[ProbeAccuracy, ...]], ...]
    n: int
    n_test: int
    dataset: str = ""  # evaluation dataset, if it is not the training dataset


def probe_table(run: Run) -> ProbeTable | None:
    """The table of the latest score `strand_probes`; None without a score."""
    score = stored_score(run, PROBES, evidence=True)
    if score is None:
        return None
    chance, accuracy = evidence_table(score, "chance", 1).tolist(), evidence_table(score, "accuracy", 2)
    strands, factors, roles = (score["evidence"].get(name) for name in ("strands", "factors", "roles"))
    require_schema(
        [strands, factors, roles], [[str]], f"the evidence of {PROBES} in {run.folder}", remedy=AGAIN
    )
    if accuracy.shape != (len(strands), len(factors)) or not len(factors) == len(roles) == len(chance):
        raise ValueError(f"The evidence of the stored score {PROBES} is damaged: its sizes differ. {AGAIN}")
    return ProbeTable(
        tuple(zip(factors, roles, chance, strict=True)),
        tuple(
            (strand, tuple(map(_probe_accuracy, accuracies, chance)))
            for strand, accuracies in zip(strands, accuracy.tolist(), strict=True)
        ),
        score["n"],
        score["n_test"],
        score.get("on", ""),
    )


def _probe_accuracy(accuracy: float, chance: float) -> ProbeAccuracy:
    return ProbeAccuracy(accuracy, max(0.0, (accuracy - chance) / max(1 - chance, 1e-9)))
