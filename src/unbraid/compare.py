"""Comparisons: methods of a study seed by seed, metrics by the order they put runs in, and two runs side by side."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from unbraid.naming import choose
from unbraid.runs import Run
from unbraid.settings import flatten
from unbraid.tables import direction, written

CONFIDENCE = 0.95
Record = Mapping[str, Any]  # of results.csv


class Comparison(NamedTuple):
    """One method against another on the seeds that both have."""

    data: str
    metric: str
    protocol: str
    first: str  # a method, with those of its settings that vary
    second: str
    first_mean: float
    second_mean: float
    difference: float  # the mean over common seeds of first less second
    low: float | None  # of its 95 % interval by Student's t; None with fewer than two seeds in common
    high: float | None
    seeds: int
    verdict: str  # ahead, behind (or higher, lower where neither is better), tie, or too few seeds


class RankCorrelations(NamedTuple):
    """How alike metrics order the runs on one dataset."""

    data: str
    metrics: tuple[str, ...]
    rho: Float[
        np.ndarray, "m m"
    ]  # above 0 where two agree; not a number where a metric is the same for all runs
    both: Int[np.ndarray, "m m"]  # how many runs have two of them
    runs: int  # that have any


class SideBySide(NamedTuple):
    """Two runs: the settings in which they differ, and their scores."""

    settings: list[tuple[str, str, str]]
    scores: list[tuple[str, str, float | None, float | None]]  # metric, protocol, and a value each


def compare_methods(
    records: Sequence[Record], *, metric: str | None = None, method: str | None = None
) -> list[Comparison]:
    """Every method of a study against one, by the differences between runs of the same seed.

    On each dataset and for each metric the others come best first. An interval that holds zero is a tie. The
    intervals are of single comparisons: of twenty true ties, one is expected to look like a difference.

    Args:
        records: Of `read_records`.
        metric: Such as `mig`; all but metrics' further numbers by default.
        method: The one that others are compared with, with its settings where it has several (`beta-vae beta=4.0`);
            by default the best of each dataset.
    """
    shown = _of_metric(records, metric)
    found = []
    for contest, scores in _contests(shown).items():
        towards = direction(contest[1]) or 1
        means = {name: float(np.mean(list(values.values()))) for name, values in scores.items()}
        best_first = sorted(scores, key=lambda name: -towards * means[name])
        own = best_first[0] if method is None else _chosen(method, best_first, contest[0])
        for other in best_first:
            if other != own:
                differences = [
                    scores[own][seed] - scores[other][seed] for seed in scores[own].keys() & scores[other]
                ]
                found.append(
                    Comparison(
                        *contest, own, other, means[own], means[other], *_judged(differences, contest[1])
                    )
                )
    return found


def interval(differences: Float[np.ndarray, " n"], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of a mean by Student's t."""
    reach = float(
        stats.t.ppf((1 + confidence) / 2, len(differences) - 1)
        * differences.std(ddof=1)
        / np.sqrt(len(differences))
    )
    return float(differences.mean()) - reach, float(differences.mean()) + reach


def rank_correlations(
    records: Sequence[Record], metrics: Sequence[str] | None = None
) -> list[RankCorrelations]:
    """Spearman's rank correlation between every two metrics over the runs on each dataset that have both.

    Of the metrics that are named, in their order, or else of all scores but their further numbers. Scores of which less
    is better are turned around, so that a positive coefficient is agreement.
    """
    shown, laws, tables = _of_metric(records, None), {}, {}
    if metrics is not None:
        shown = [record for metric in metrics for record in records if record["metric"] == metric]
    for record in shown:
        laws.setdefault(record["metric"], set()).add(record["protocol"])
    for record in shown:
        law = f" ({record['protocol']})" if len(laws[record["metric"]]) > 1 else ""
        table = tables.setdefault(record["data"], {}).setdefault(record["metric"] + law, {})
        table[f"{record['run']} {record['on']}"] = (direction(record["metric"]) or 1) * record["value"]
    found = []
    for data, table in tables.items():
        runs = list(dict.fromkeys(run for values in table.values() for run in values))
        if len(table) < 2 or len(runs) < 3:
            continue
        values = np.array([[table[name].get(run, np.nan) for run in runs] for name in table])
        rho = np.array([[_spearman(first, second) for second in values] for first in values])
        there = np.isfinite(values).astype(int)
        found.append(RankCorrelations(data, tuple(table), rho, there @ there.T, len(runs)))
    return found


def compare_runs(first: Run | Path | str, second: Run | Path | str) -> SideBySide:
    """Two runs side by side."""
    runs = [run if isinstance(run, Run) else Run(run) for run in (first, second)]
    one, two = (flatten(run.settings) for run in runs)
    settings = [
        (name, one.get(name, "–"), two.get(name, "–"))
        for name in dict.fromkeys([*one, *two])
        if one.get(name) != two.get(name)
    ]
    tables = [
        {
            (score["metric"], ", ".join(filter(None, [score["protocol"], score.get("on")]))): score["value"]
            for score in run.scores()
        }
        for run in runs
    ]
    keys = dict.fromkeys(key for table in tables for key in table)
    return SideBySide(settings, [(*key, tables[0].get(key), tables[1].get(key)) for key in keys])


def _of_metric(records: Sequence[Record], metric: str | None) -> list[Record]:
    known = dict.fromkeys(record["metric"] for record in records)
    if metric is None:
        return [record for record in records if "." not in record["metric"]]
    choose("score of the study", metric, known)
    return [record for record in records if record["metric"] == metric]


def _contests(records: Sequence[Record]) -> dict[tuple[str, str, str], dict[str, dict[int, float]]]:
    """By dataset, metric and protocol, then by contestant and seed, the scores."""
    names, scored_on = _names(records), {}
    for record in records:
        scored_on.setdefault(record["data"], set()).add(record["on"])
    found: dict[tuple[str, str, str], dict[str, dict[int, float]]] = {}
    for record in records:
        data = record["data"]
        place = f"{data}, scored on {record['on'] or data}" if len(scored_on[data]) > 1 else data
        contest = found.setdefault((place, record["metric"], record["protocol"]), {})
        name = names[data, record["method"], record["settings"]]
        contest.setdefault(name, {})[record["seed"]] = record["value"]
    return {key: contest for key, contest in found.items() if len(contest) > 1}


def _names(records: Iterable[Record]) -> dict[tuple[str, str, str], str]:
    """What each dataset's methods are called: by their name and the settings that vary."""
    kinds: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for record in records:
        found = kinds.setdefault((record["data"], record["method"]), {})
        if record["settings"] not in found:
            found[record["settings"]] = json.loads(record["settings"])
    names = {}
    for (data, method), settings in kinds.items():
        for text, own in settings.items():
            varying = [key for key in own if any(other.get(key) != own[key] for other in settings.values())]
            said = [f"{key}={written(own[key])}" for key in varying]
            names[data, method, text] = " ".join([method, *said])
    return names


def _chosen(method: str, names: Sequence[str], data: str) -> str:
    """The contestant meant by a method's name, alone or with its settings."""
    of_method = [name for name in names if name.partition(" ")[0] == method]
    if len(of_method) == 1:
        return of_method[0]
    if len(of_method) > 1:
        raise ValueError(f"{method} has several settings on {data}: choose one of {'; '.join(of_method)}.")
    choose(f"method on {data}", method, dict.fromkeys(names))
    return method


def _judged(differences: Sequence[float], metric: str) -> tuple[float, float | None, float | None, int, str]:
    """The mean difference, its interval, how many seeds it is of, and what follows."""
    mean = float(np.mean(differences)) if differences else float("nan")
    if len(differences) < 2:
        return mean, None, None, len(differences), "too few seeds"
    low, high = interval(np.array(differences))
    towards = direction(metric)
    more, less = {1: ("ahead", "behind"), -1: ("behind", "ahead"), 0: ("higher", "lower")}[towards]
    return mean, low, high, len(differences), more if low > 0 else less if high < 0 else "tie"


def _spearman(first: Float[np.ndarray, " n"], second: Float[np.ndarray, " n"]) -> float:
    both = np.isfinite(first) & np.isfinite(second)
    a, b = (stats.rankdata(values[both]) for values in (first, second))
    if len(a) < 3 or a.std() == 0 or b.std() == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])
