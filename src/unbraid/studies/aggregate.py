"""Scores of a study's runs: one record per score, and means over seeds next to the published values."""

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unbraid.runs import Run, identity
from unbraid.settings import to_json
from unbraid.studies.plan import Plan
from unbraid.studies.tables import Published, Row, format_setting

COLUMNS = (
    *("method", "data", "on", "settings", "seed", "metric", "protocol", "value", "higher_is_better"),
    *("n", "n_test", "seconds", "run", "unbraid", "torch"),
)
FinishedRuns = Sequence[tuple[Plan, Run]]


def evaluation_key(plan: Plan) -> str:
    """Identifies the evaluation arguments of a plan, which are stored with each score of its run."""
    return identity(to_json(dict(plan.evaluation)))


def scores_for(plan: Plan, run: Run) -> list[dict[str, Any]]:
    """The scores of the run that were computed with the plan's evaluation arguments."""
    key = evaluation_key(plan)
    return [score for score in run.scores() if score.get("evaluation") == key]


def tidy(finished: FinishedRuns) -> list[dict[str, Any]]:
    """One record per score."""
    records = []
    for plan, run in finished:
        versions = run.versions()
        settings = {name: value for name, value in plan.options.items() if name != "seed"}
        for score in scores_for(plan, run):
            record = {
                "method": plan.method_name,
                "data": run.data_name,
                "on": score.get("on", ""),
                "settings": json.dumps(to_json(settings), sort_keys=True),
                "seed": run.seed,
                "run": run.folder.name,
                "unbraid": versions.get("unbraid", ""),
                "torch": versions.get("torch", ""),
            }
            records.append({name: (score | record)[name] for name in COLUMNS})
    return records


def aggregate(finished: FinishedRuns, published: Published | None = None) -> list[Row]:
    """Means and standard deviations over seeds: one row per method, dataset, varying settings and metric.

    If runs on one dataset are evaluated on several datasets, the evaluation dataset becomes a setting of the row, and
    so does every evaluation argument that differs between two plans of the same run.
    """
    evaluated = [(plan, run, scores_for(plan, run)) for plan, run in finished]
    evaluated_on: dict[str, set[str]] = {}
    for _, run, scores in evaluated:
        evaluated_on.setdefault(run.data_name, set()).update(score.get("on", "") for score in scores)
    plans = [plan for plan, _ in finished]
    varying, varying_evaluation = varying_options(plans), _varying_evaluation(finished)
    values: dict[tuple[str, str, str, str, str], list[float]] = {}
    min_samples: dict[tuple[str, str, str, str, str], int] = {}
    directions: dict[tuple[str, str, str, str, str], bool | None] = {}
    for plan, run, scores in evaluated:
        data = run.data_name
        settings = {name: value for name, value in plan.options.items() if name in varying[plan.method_name]}
        settings |= {name: plan.evaluation.get(name) for name in varying_evaluation.get(run.folder.name, ())}
        for score in scores:
            evaluation_dataset = {"on": score.get("on", "")} if len(evaluated_on[data]) > 1 else {}
            settings_json = json.dumps(to_json(settings | evaluation_dataset), sort_keys=True)
            key = (plan.method_name, data, settings_json, score["metric"], score["protocol"])
            values.setdefault(key, []).append(score["value"])
            min_samples[key] = min(score["n"], min_samples.get(key, score["n"]))
            directions[key] = score["higher_is_better"]
    return [
        Row(
            *(method, data, json.loads(settings_json), metric, protocol),
            statistics.fmean(seed_values),
            statistics.stdev(seed_values) if len(seed_values) > 1 else None,
            len(seed_values),
            _published(published or {}, method, data, json.loads(settings_json), metric),
            min_samples[method, data, settings_json, metric, protocol],
            directions[method, data, settings_json, metric, protocol],
        )
        for (method, data, settings_json, metric, protocol), seed_values in values.items()
    ]


def varying_options(plans: Iterable[Plan]) -> dict[str, set[str]]:
    """Per method, the options that differ between its plans, except the seed."""
    counts: dict[str, int] = {}
    by_method: dict[str, dict[str, list[str]]] = {}
    for plan in plans:
        counts[plan.method_name] = counts.get(plan.method_name, 0) + 1
        options = by_method.setdefault(plan.method_name, {})
        for name, value in plan.options.items():
            options.setdefault(name, []).append(json.dumps(to_json(value), sort_keys=True))
    return {
        method: {
            name
            for name, values in options.items()
            if name != "seed" and (len(values) < counts[method] or len(set(values)) > 1)
        }
        for method, options in by_method.items()
    }


def _varying_evaluation(finished: FinishedRuns) -> dict[str, list[str]]:
    """Per run folder, the evaluation arguments that differ between its plans, except the evaluation dataset."""
    by_folder: dict[str, list[Mapping[str, Any]]] = {}
    for plan, run in finished:
        by_folder.setdefault(run.folder.name, []).append(plan.evaluation)
    return {
        folder: [
            name
            for name in sorted(set().union(*evaluations) - {"on"})
            if len({json.dumps(to_json(evaluation.get(name)), sort_keys=True) for evaluation in evaluations})
            > 1
        ]
        for folder, evaluations in by_folder.items()
        if len(evaluations) > 1
    }


def _published(
    published: Published, method: str, data: str, settings: Mapping[str, Any], metric: str
) -> float | None:
    """The published value under the most specific key, such as `("sw-vae", "rooms", "divergence=jsd", "mig")`."""
    names = [f"{name}={format_setting(value)}" for name, value in settings.items()]
    names = [", ".join(names), *names] if len(names) > 1 else names
    keys = [(method, data, setting, metric) for setting in names]
    keys += [(method, setting, metric) for setting in names]
    keys += [(method, data, metric), (method, metric)]
    return next((published[key] for key in keys if key in published), None)
