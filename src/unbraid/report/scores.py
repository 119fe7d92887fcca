"""Tables of scores, and of KL and mutual information per dimension."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from unbraid.evaluation import find_metric
from unbraid.options import first_sentence
from unbraid.report.figures import ACTIVE_THRESHOLD
from unbraid.report.stored import evidence_table
from unbraid.runs import Run
from unbraid.studies import is_further

DIRECTIONS = {True: "Higher is better.", False: "Lower is better.", None: ""}


class ScoreRow(NamedTuple):
    """One row of the table: one score, with one value per run."""

    metric: str
    description: str  # what it is, and which direction is better; empty for secondary values
    values: list[float | None]  # one per run, None for a run without this score
    protocol: str
    n: int
    n_test: int
    seed: int
    is_secondary: bool  # an additional value of a metric, such as `mig.rmig`
    dataset: str = ""  # evaluation dataset, if it is not the training dataset
    higher_is_better: bool | None = None  # None: neither direction is better


class DimensionRow(NamedTuple):
    """KL and mutual information of one dimension."""

    dim: int
    kl: float  # in nats
    relative_kl: float  # divided by the largest KL of the run
    inactive: bool  # KL at most ACTIVE_THRESHOLD
    # Mutual information with each factor: in nats, and as a fraction of log(number of values).
    mutual_information: list[tuple[float, float]]


class KLTable(NamedTuple):
    """KL and mutual information per dimension, as stored with the scores `kl` and `mig`."""

    factors: tuple[str, ...]  # empty without a `mig` score
    rows: list[DimensionRow]


def score_rows(scores: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[ScoreRow]:
    """The scores of several runs, one row per metric, protocol, sample size, seed and dataset."""
    keys = ("metric", "protocol", "n", "n_test", "seed", "on")
    values_by_key: dict[tuple[Any, ...], dict[str, float]] = {}
    directions: dict[tuple[Any, ...], bool | None] = {}
    for run, entries in scores.items():
        for entry in entries:
            key = tuple(entry.get(name, "" if name == "on" else 0) for name in keys)
            values_by_key.setdefault(key, {})[run] = entry["value"]
            directions[key] = entry.get("higher_is_better")
    rows = []
    for key, values in values_by_key.items():
        metric, protocol, n, n_test, seed, dataset = key
        is_secondary = is_further(metric)
        sentences = [metric_description(metric), DIRECTIONS[directions[key]]]
        rows.append(
            ScoreRow(
                metric=metric,
                description="" if is_secondary else " ".join(filter(None, sentences)),
                values=[values.get(run) for run in scores],
                protocol=protocol,
                n=n,
                n_test=n_test,
                seed=seed,
                is_secondary=is_secondary,
                dataset=dataset,
                higher_is_better=directions[key],
            )
        )
    return rows


def metric_description(metric: str) -> str:
    """The first sentence about a metric; empty for your own metric that was not named in this process."""
    try:
        _, function = find_metric(metric)
    except ValueError:
        return ""
    return first_sentence(function)


def kl_table(run: Run) -> KLTable | None:
    """The dimensions of a run, largest KL first; None without a `kl` score."""
    # Scores on the training dataset come last, so that they replace scores on another dataset.
    scores = sorted(run.scores(), key=lambda score: "on" not in score)
    scored = {score["metric"]: score for score in scores if score.get("evidence")}
    kls = evidence_table(scored["kl"], "per_dim", 1).tolist() if "kl" in scored else []
    if not kls:
        return None
    data = run.settings["data"]
    factor_sizes = {
        name: size for name, size in data["factors"].items() if size > 1 and name != data.get("instance")
    }
    information = evidence_table(scored["mig"], "information", 2) if "mig" in scored else np.zeros((0, 0))
    if information.shape != (len(kls), len(factor_sizes)):
        factor_sizes, information = {}, np.zeros((len(kls), 0))
    largest_kl = max(max(kls), 1e-9)
    rows = [
        DimensionRow(
            dim,
            kls[dim],
            max(kls[dim], 0.0) / largest_kl,
            kls[dim] <= ACTIVE_THRESHOLD,
            [
                (nats, min(1.0, nats / math.log(size)))
                for nats, size in zip(information[dim].tolist(), factor_sizes.values(), strict=True)
            ],
        )
        for dim in sorted(range(len(kls)), key=lambda dim: -kls[dim])
    ]
    return KLTable(tuple(factor_sizes), rows)
