"""Linear probes per strand: accuracy for the class and for each nuisance."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from unbraid.data import Dataset
from unbraid.evaluation import evaluate
from unbraid.report.strand_figures import innermost_strands
from unbraid.runs import Model, Run

MAX_SAMPLES = 1_500  # number of observations for probes that the report trains


class ProbeAccuracy(NamedTuple):
    """Accuracy of one probe."""

    accuracy: float
    share: float  # accuracy rescaled to 0 for chance and 1 for always correct


class ProbeTable(NamedTuple):
    """One row per strand, one column per factor: the class and the nuisances."""

    # Name, role, and accuracy of predicting the most frequent value.
    factors: tuple[tuple[str, str, float], ...]
    rows: tuple[tuple[str, tuple[ProbeAccuracy, ...]], ...]
    n: int
    n_test: int


def probe_table(run: Run, model: Model, dataset: Dataset) -> ProbeTable | None:
    """The table from the scores of the run, or from new probes; None if the dataset has no nuisances."""
    roles = {name: "known nuisance" for name in dataset.nuisances}
    roles |= {name: "hidden nuisance" for name in dataset.hidden_nuisances}
    if not roles:
        return None
    if dataset.label is not None:
        roles = {dataset.label: "class"} | roles
    strands = innermost_strands(model.strands)
    probe_scores = {score["metric"]: score for score in run.scores() if "factor_probe" in score["metric"]}
    if any(f"{strand}:factor_probe" not in probe_scores for strand in strands):
        size = min(MAX_SAMPLES, len(dataset))
        names = [f"{strand}:factor_probe" for strand in strands]
        scores = evaluate(model.method, dataset, names, num_samples=size, num_test_samples=0)
        probe_scores = {score["metric"]: score for score in scores}
    first = f"{strands[0]}:factor_probe"
    factor_names = [name for name in roles if f"{first}.accuracy.{name}" in probe_scores]
    if not factor_names:
        return None
    chance = {name: probe_scores[f"{first}.chance.{name}"]["value"] for name in factor_names}
    return ProbeTable(
        tuple((name, roles[name], chance[name]) for name in factor_names),
        tuple(
            (strand, tuple(_accuracy(probe_scores, strand, name, chance[name]) for name in factor_names))
            for strand in strands
        ),
        probe_scores[first]["n"],
        probe_scores[first]["n_test"],
    )


def _accuracy(
    probe_scores: Mapping[str, Mapping[str, Any]], strand: str, factor: str, chance: float
) -> ProbeAccuracy:
    accuracy = probe_scores[f"{strand}:factor_probe.accuracy.{factor}"]["value"]
    return ProbeAccuracy(accuracy, max(0.0, (accuracy - chance) / max(1 - chance, 1e-9)))
