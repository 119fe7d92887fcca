"""Scores of a study's runs: one record per score, and means over seeds next to the published values."""

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.runs import Run
from unbraid.settings import identity, to_json
from unbraid.studies.plan import Plan
from unbraid.studies.tables import Published, Row, format_setting

COLUMNS = (
    *("method", "data", "on", "settings", "steps", "seed", "metric", "protocol", "value", "higher_is_better"),
    *("n", "n_test", "seconds", "run", "evaluation", "weights", "recipe", "commit", "unbraid", "torch"),
)
NOT_SETTINGS = ("seed", "keep_weights")  # options that do not make a row of a table


class Scored(NamedTuple):
    """A plan and its scores, one record each: of its run, or from a file of rows."""

    plan: Plan
    records: list[dict[str, Any]]
    folder: str  # name of the run folder
    committed: bool = False  # whether the records are from a file of rows


def evaluation_key(plan: Plan) -> str:
    """Identifies the evaluation arguments of a plan, which are stored with each score of its run."""
    return identity(to_json(dict(plan.evaluation)))


def scores_for(plan: Plan, run: Run) -> list[dict[str, Any]]:
    """The scores of the run that were computed with the plan's evaluation arguments."""
    key = evaluation_key(plan)
    return [score for score in run.scores(plan.evaluation.get("steps")) if score.get("evaluation") == key]


def score_run(plan: Plan, run: Run, recipe: str = "") -> Scored:
    """The scores of a run as records, each with where it comes from."""
    versions, steps = run.versions(), plan.evaluation.get("steps")
    common = {
        "method": plan.method_name,
        "data": run.data_name,
        "settings": json.dumps(to_json(settings_of(plan)), sort_keys=True),
        "steps": run.steps if steps is None else steps,
        "seed": run.seed,
        "run": run.folder.name,
        "evaluation": evaluation_key(plan),
        "weights": run.sha256(steps),
        "recipe": Path(recipe).name if recipe.endswith(".py") else recipe,  # no path of one machine
        **{name: versions.get(name, "") for name in ("commit", "unbraid", "torch")},
    }
    records = [{"on": ""} | score | common for score in scores_for(plan, run)]
    return Scored(plan, [{name: one[name] for name in COLUMNS} for one in records], run.folder.name)


def settings_of(plan: Plan) -> dict[str, Any]:
    """The options that make a row of a table; `steps` are those after which the weights were scored."""
    settings = {name: value for name, value in plan.options.items() if name not in NOT_SETTINGS}
    return settings | {name: plan.evaluation[name] for name in ("steps",) if name in plan.evaluation}


def aggregate(scored: Sequence[Scored], published: Published | None = None) -> list[Row]:
    """Means and standard deviations over seeds: one row per method, dataset, varying settings and metric.

    If runs on one dataset are evaluated on several datasets, the evaluation dataset becomes a setting of the row, and
    so does every evaluation argument that differs between two plans of the same run. If any run is scored at several
    lengths, every row has its steps.
    """
    scored = [one for one in scored if one.records]
    evaluated_on: dict[str, set[str]] = {}
    for record in (record for one in scored for record in one.records):
        evaluated_on.setdefault(record["data"], set()).add(record["on"])
    varying, varying_evaluation = varying_options([one.plan for one in scored]), _varying_evaluation(scored)
    several_lengths = any("steps" in one.plan.evaluation for one in scored)
    found: dict[tuple[str, str, str, str, str], list[dict[str, Any]]] = {}
    for plan, records, folder, _ in scored:
        settings = {n: value for n, value in settings_of(plan).items() if n in varying[plan.method_name]}
        settings |= {name: plan.evaluation.get(name) for name in varying_evaluation.get(folder, ())}
        for record in records:
            own = {"on": record["on"]} if len(evaluated_on[record["data"]]) > 1 else {}
            own |= {"steps": record["steps"]} if several_lengths else {}
            text = json.dumps(to_json(settings | own), sort_keys=True)
            key = (plan.method_name, record["data"], text, record["metric"], record["protocol"])
            found.setdefault(key, []).append(record)
    return [
        Row(
            *(method, data, settings, metric, protocol),
            statistics.fmean(record["value"] for record in records),
            statistics.stdev(record["value"] for record in records) if len(records) > 1 else None,
            len(records),
            _published(published or {}, method, data, settings, metric),
            min(record["n"] for record in records),
            records[-1]["higher_is_better"],
        )
        for (method, data, text, metric, protocol), records in found.items()
        for settings in [json.loads(text)]
    ]


def varying_options(plans: Iterable[Plan]) -> dict[str, set[str]]:
    """Per method, the settings that differ between its plans."""
    counts: dict[str, int] = {}
    by_method: dict[str, dict[str, list[str]]] = {}
    for plan in plans:
        counts[plan.method_name] = counts.get(plan.method_name, 0) + 1
        options = by_method.setdefault(plan.method_name, {})
        for name, value in settings_of(plan).items():
            options.setdefault(name, []).append(json.dumps(to_json(value), sort_keys=True))
    return {
        method: {
            name for name, values in options.items() if len(values) < counts[method] or len(set(values)) > 1
        }
        for method, options in by_method.items()
    }


def _varying_evaluation(scored: Sequence[Scored]) -> dict[str, list[str]]:
    """Per run folder, the evaluation arguments that differ between its plans, except the dataset and the steps."""
    by_folder: dict[str, list[Mapping[str, Any]]] = {}
    for one in scored:
        by_folder.setdefault(one.folder, []).append(one.plan.evaluation)
    return {
        folder: [
            name
            for name in sorted(set().union(*evaluations) - {"on", "steps"})
            if len({json.dumps(to_json(evaluation.get(name)), sort_keys=True) for evaluation in evaluations})
            > 1
        ]
        for folder, evaluations in by_folder.items()
        if len(evaluations) > 1
    }


def _published(
    published: Published, method: str, data: str, settings: Mapping[str, Any], metric: str
) -> float | None:
    """The published value under the most specific key, such as `("sw-vae", "rooms", "divergence=jsd", "mig")`.

    A key of a setting whose value is None says that the paper has no row with the setting.
    """
    names = [f"{name}={format_setting(value)}" for name, value in settings.items()]
    names = [", ".join(names), *names] if len(names) > 1 else names
    keys = [(method, data, setting, metric) for setting in names]
    keys += [(method, setting, metric) for setting in names]
    if any(key in published and published[key] is None for key in keys):
        return None
    keys += [(method, data, metric), (method, metric)]
    return next((published[key] for key in keys if key in published), None)
