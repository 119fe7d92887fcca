"""Comparisons: methods paired by seed, rank correlations between metrics, and two runs side by side."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from unbraid.runs import Run
from unbraid.settings import flatten, lookup
from unbraid.studies.tables import format_setting, is_further, sign

CONFIDENCE = 0.95
Record = Mapping[str, Any]  # of results.csv


class Comparison(NamedTuple):
    """One method compared with another on their common seeds."""

    data: str
    metric: str
    protocol: str
    first: str  # a method with its varying settings
    second: str
    first_mean: float
    second_mean: float
    difference: float  # mean of first - second over common seeds
    low: float | None  # 95 % interval by Student's t; None with fewer than two common seeds
    high: float | None
    seeds: int
    verdict: str  # ahead or behind (higher or lower if neither is better), tie, or too few seeds


class RankCorrelations(NamedTuple):
    """Rank correlations between metrics over the runs on one dataset."""

    data: str
    metrics: tuple[str, ...]
    rho: Float[np.ndarray, "m m"]  # Spearman's ρ; positive if two metrics agree, NaN if one is constant
    both: Int[np.ndarray, "m m"]  # number of runs with both metrics
    runs: int  # number of runs with any of the metrics


class SideBySide(NamedTuple):
    """Two runs: their different settings, and their scores."""

    settings: list[tuple[str, str, str]]
    scores: list[tuple[str, str, float | None, float | None]]  # metric, protocol, one value per run


def compare_methods(
    records: Sequence[Record], *, metric: str | None = None, method: str | None = None
) -> list[Comparison]:
    """Compares one method of a study with the others, paired by seed.

    For each dataset and metric the best method comes first. If the 95 % interval contains 0, the result is a tie. The
    intervals are not corrected for multiple comparisons: of twenty true ties, one is expected to differ.

    Args:
        records: Records of `read_records`.
        metric: Metric such as `mig`; default: all, without their further numbers.
        method: Method to compare with the others, including its settings if it has several (`beta-vae beta=4.0`);
            default: the best on each dataset.
    """
    if method is not None:
        names = [name for (_, plain, _), name in _names(records).items() for name in (plain, name)]
        lookup("method of the study", method, dict.fromkeys(names))
    comparisons = []
    for key, (higher_is_better, scores) in _comparisons(_of_metric(records, metric)).items():
        direction = sign(higher_is_better) or 1
        means = {name: float(np.mean(list(values.values()))) for name, values in scores.items()}
        best_first = sorted(scores, key=lambda name: -direction * means[name])
        first = best_first[0] if method is None else _full_name(method, best_first, key[0])
        for second in best_first:
            if second != first:
                common = scores[first].keys() & scores[second]
                differences = [scores[first][seed] - scores[second][seed] for seed in common]
                verdict = _verdict(differences, higher_is_better)
                comparisons.append(Comparison(*key, first, second, means[first], means[second], *verdict))
    return comparisons


def interval(differences: Float[np.ndarray, " n"], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The confidence interval of a mean by Student's t."""
    half_width = float(
        stats.t.ppf((1 + confidence) / 2, len(differences) - 1)
        * differences.std(ddof=1)
        / np.sqrt(len(differences))
    )
    return float(differences.mean()) - half_width, float(differences.mean()) + half_width


def rank_correlations(
    records: Sequence[Record], metrics: Sequence[str] | None = None
) -> list[RankCorrelations]:
    """Spearman's rank correlation between metrics, over the runs on each dataset that have both.

    Scores for which lower is better are negated, so that a positive coefficient means agreement.

    Args:
        records: Records of `read_records`.
        metrics: Metrics in order; default: all, without their further numbers.
    """
    selected, protocols, tables = _of_metric(records, None), {}, {}
    if metrics is not None:
        selected = [record for metric in metrics for record in records if record["metric"] == metric]
    for record in selected:
        protocols.setdefault(record["metric"], set()).add(record["protocol"])
    for record in selected:
        suffix = f" ({record['protocol']})" if len(protocols[record["metric"]]) > 1 else ""
        table = tables.setdefault(record["data"], {}).setdefault(record["metric"] + suffix, {})
        table[f"{record['run']} {record['on']} {record['steps']}"] = (
            sign(record["higher_is_better"]) or 1
        ) * record["value"]
    correlations = []
    for data, table in tables.items():
        runs = list(dict.fromkeys(run for values in table.values() for run in values))
        if len(table) < 2 or len(runs) < 3:
            continue
        values = np.array([[table[name].get(run, np.nan) for run in runs] for name in table])
        rho = np.array([[_spearman(first, second) for second in values] for first in values])
        present = np.isfinite(values).astype(int)
        correlations.append(RankCorrelations(data, tuple(table), rho, present @ present.T, len(runs)))
    return correlations


def compare_runs(first: Run | Path | str, second: Run | Path | str) -> SideBySide:
    """Compares the settings and scores of two runs."""
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
    if metric is None:
        return [record for record in records if not is_further(record["metric"])]
    lookup("score of the study", metric, dict.fromkeys(record["metric"] for record in records))
    return [record for record in records if record["metric"] == metric]


def _comparisons(
    records: Sequence[Record],
) -> dict[tuple[str, str, str], tuple[bool | None, dict[str, dict[int, float]]]]:
    """Whether higher is better and the scores, by dataset, metric and protocol; scores by method, then by seed."""
    names, evaluated_on = _names(records), {}
    for record in records:
        evaluated_on.setdefault(record["data"], set()).add(record["on"])
    comparisons: dict[tuple[str, str, str], tuple[bool | None, dict[str, dict[int, float]]]] = {}
    for record in records:
        data = record["data"]
        label = f"{data}, evaluated on {record['on'] or data}" if len(evaluated_on[data]) > 1 else data
        key = (label, record["metric"], record["protocol"])
        _, scores = comparisons.setdefault(key, (record["higher_is_better"], {}))
        name = names[data, record["method"], record["settings"]]
        scores.setdefault(name, {})[record["seed"]] = record["value"]
    return {key: (better, scores) for key, (better, scores) in comparisons.items() if len(scores) > 1}


def _names(records: Iterable[Record]) -> dict[tuple[str, str, str], str]:
    """The name of each method on each dataset, with its varying settings."""
    by_method: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for record in records:
        all_settings = by_method.setdefault((record["data"], record["method"]), {})
        if record["settings"] not in all_settings:
            all_settings[record["settings"]] = json.loads(record["settings"])
    names = {}
    for (data, method), all_settings in by_method.items():
        for text, settings in all_settings.items():
            words = [
                f"{key}={format_setting(value)}"
                for key, value in settings.items()
                if any(other.get(key) != value for other in all_settings.values())
            ]
            names[data, method, text] = " ".join([method, *words])
    return names


def _full_name(method: str, names: Sequence[str], data: str) -> str:
    """The method with its settings; `method` may lack them if there is only one."""
    of_method = [name for name in names if name.partition(" ")[0] == method]
    if len(of_method) == 1:
        return of_method[0]
    if len(of_method) > 1:
        raise ValueError(f"{method} has several settings on {data}. Choose one of {'; '.join(of_method)}.")
    lookup(f"method on {data}", method, dict.fromkeys(names))
    return method


def _verdict(
    differences: Sequence[float], higher_is_better: bool | None
) -> tuple[float, float | None, float | None, int, str]:
    """The mean difference, its interval, the number of seeds and the verdict."""
    mean = float(np.mean(differences)) if differences else float("nan")
    if len(differences) < 2:
        return mean, None, None, len(differences), "too few seeds"
    low, high = interval(np.array(differences))
    above, below = {True: ("ahead", "behind"), False: ("behind", "ahead"), None: ("higher", "lower")}[
        higher_is_better
    ]
    return mean, low, high, len(differences), above if low > 0 else below if high < 0 else "tie"


def _spearman(first: Float[np.ndarray, " n"], second: Float[np.ndarray, " n"]) -> float:
    both = np.isfinite(first) & np.isfinite(second)
    a, b = first[both], second[both]
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    rho, _ = stats.spearmanr(a, b)
    return float(rho)  # type: ignore[arg-type]
