"""Scores set side by side, and what each code knows."""

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from unbraid.naming import summary
from unbraid.report.figures import ACTIVE
from unbraid.runs import Run


class ScoreRow(NamedTuple):
    """One score of every run that has it."""

    metric: str
    meaning: str  # a sentence, for the first row of a metric
    values: list[float | None]  # None where a run lacks it
    protocol: str
    n: int
    n_test: int
    seed: int
    further: bool  # a metric's other numbers, under its score
    on: str = ""  # the data, where that is not what was trained on


class CodeRow(NamedTuple):
    """One code: how much it says, and of what."""

    code: int
    amount: float  # its KL divergence in nats
    share: float  # of the largest amount
    still: bool  # says next to nothing
    information: list[
        tuple[float, float]
    ]  # with each factor: in nats, and as a share of the most there can be


class Knowledge(NamedTuple):
    """What each code knows, from the evidence of the scores `kl` and `mig`."""

    factors: tuple[str, ...]  # none where `mig` was not scored
    rows: list[CodeRow]


def score_rows(scores: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[ScoreRow]:
    """The scores of several runs, one row for each metric, protocol, sample size, seed and data."""
    keys = ("metric", "protocol", "n", "n_test", "seed", "on")
    table: dict[tuple[Any, ...], dict[str, float]] = {}
    for run, entries in scores.items():
        for entry in entries:
            key = tuple(entry.get(name, "" if name == "on" else 0) for name in keys)
            table.setdefault(key, {})[run] = entry["value"]
    rows = []
    for (metric, protocol, n, n_test, seed, on), values in table.items():
        further = "." in metric
        rows.append(
            ScoreRow(
                metric=metric,
                meaning="" if further else meaning(metric),
                values=[values.get(run) for run in scores],
                protocol=protocol,
                n=n,
                n_test=n_test,
                seed=seed,
                further=further,
                on=on,
            )
        )
    return rows


def meaning(metric: str) -> str:
    """What a metric measures, by the first sentence of its documentation."""
    from unbraid import metrics

    name = metric.rpartition(":")[2]
    if name == "reconstruction":
        return "The loss of decoding what was encoded, in nats per image where there is a likelihood."
    function = getattr(metrics, "kl_per_code" if name == "kl" else name, None)
    return summary(function) if inspect.isfunction(function) else ""


def knowledge(run: Run) -> Knowledge | None:
    """The codes of a run, busiest first; None for a run that was not scored by `kl`."""
    scores = sorted(
        run.scores(), key=lambda score: "on" not in score
    )  # of what was trained on, where there are both
    evidence = {score["metric"]: score.get("evidence", {}) for score in scores}
    amounts = evidence.get("kl", {}).get("per_code")
    if not amounts:
        return None
    data = run.settings["data"]
    sizes = {
        name: size for name, size in data["factors"].items() if size > 1 and name != data.get("instance")
    }
    information = evidence.get("mig", {}).get("information")
    if information is None or [len(information), len(information[0])] != [len(amounts), len(sizes)]:
        sizes, information = {}, [[]] * len(amounts)
    most = max(max(amounts), 1e-9)
    rows = [
        CodeRow(
            code,
            amounts[code],
            max(amounts[code], 0.0) / most,
            amounts[code] <= ACTIVE,
            [
                (nats, min(1.0, nats / math.log(size)))
                for nats, size in zip(information[code], sizes.values(), strict=True)
            ],
        )
        for code in sorted(range(len(amounts)), key=lambda code: -amounts[code])
    ]
    return Knowledge(tuple(sizes), rows)
