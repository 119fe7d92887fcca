"""What each strand gives away of the class and of the nuisances, by linear probes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from unbraid.data.dataset import Dataset
from unbraid.evaluate import evaluate
from unbraid.model import Model
from unbraid.report.strand_figures import leaves
from unbraid.runs import Run

SAMPLES = 1_500  # for probes that the report trains itself


class Read(NamedTuple):
    """How well a factor is read off a strand."""

    accuracy: float
    share: float  # of the way from chance to certainty


class Leaks(NamedTuple):
    """A row for each strand, a column for each factor that is the class or a nuisance."""

    factors: tuple[tuple[str, str, float], ...]  # name, role, and the accuracy of naming its commonest value
    rows: tuple[tuple[str, tuple[Read, ...]], ...]
    n: int
    n_test: int


def leaks(run: Run, model: Model, dataset: Dataset) -> Leaks | None:
    """What strands give away, from the run's scores or by fresh probes; None where data has no nuisances."""
    roles = {name: "known nuisance" for name in dataset.nuisances}
    roles |= {name: "unknown nuisance" for name in dataset.unknown}
    if not roles:
        return None
    if dataset.label is not None:
        roles = {dataset.label: "class"} | roles
    strands = leaves(model.strands)
    found = {score["metric"]: score for score in run.scores() if "leak" in score["metric"]}
    if any(f"{strand}:leak" not in found for strand in strands):
        size = min(SAMPLES, len(dataset))
        names = [f"{strand}:leak" for strand in strands]
        scores = evaluate(model.method, dataset, names, samples=size, test_samples=0)
        found = {score["metric"]: score for score in scores}
    first = f"{strands[0]}:leak"
    shown = [name for name in roles if f"{first}.accuracy.{name}" in found]
    if not shown:
        return None
    chance = {name: found[f"{first}.chance.{name}"]["value"] for name in shown}
    return Leaks(
        tuple((name, roles[name], chance[name]) for name in shown),
        tuple(
            (strand, tuple(_read(found, strand, name, chance[name]) for name in shown)) for strand in strands
        ),
        found[first]["n"],
        found[first]["n_test"],
    )


def _read(found: Mapping[str, Mapping[str, Any]], strand: str, factor: str, chance: float) -> Read:
    accuracy = found[f"{strand}:leak.accuracy.{factor}"]["value"]
    return Read(accuracy, max(0.0, (accuracy - chance) / max(1 - chance, 1e-9)))
