"""What the runs of a study scored: one record a score, and means over seeds."""

import json
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from unbraid.plan import Plan
from unbraid.runs import Run, identity
from unbraid.settings import describe

COLUMNS = (
    *("method", "data", "on", "settings", "seed", "metric", "protocol", "value", "n", "n_test", "seconds"),
    *("run", "unbraid", "torch"),
)


class Row(NamedTuple):
    """One line of a study's table: a score over the seeds of one setting."""

    method: str
    data: str
    settings: dict[str, Any]  # those that vary between the method's runs
    metric: str
    protocol: str
    mean: float
    std: float | None  # over seeds; None for a single one
    n: int
    published: float | None


def scoring_of(plan: Plan) -> str:
    """What tells the scores of a study from others in the folder: how it asked for them."""
    return identity(describe(dict(plan.scoring)))


def scores_of(plan: Plan, run: Run) -> list[dict[str, Any]]:
    return [score for score in run.scores() if score.get("scoring") == scoring_of(plan)]


def tidy(done: Sequence[tuple[Plan, Run]]) -> list[dict[str, Any]]:
    """One record a score."""
    records = []
    for plan, run in done:
        versions = run.versions()
        settings = {name: value for name, value in plan.options.items() if name != "seed"}
        for score in scores_of(plan, run):
            record = {
                "method": plan.method,
                "data": run.data_name,
                "on": score.get("on", ""),
                "settings": json.dumps(describe(settings), sort_keys=True),
                "seed": run.seed,
                "run": run.folder.name,
                "unbraid": versions.get("unbraid", ""),
                "torch": versions.get("torch", ""),
            }
            record |= {
                name: score[name] for name in ("metric", "protocol", "value", "n", "n_test", "seconds")
            }
            records.append({name: record[name] for name in COLUMNS})
    return records


def aggregate(
    done: Sequence[tuple[Plan, Run]], published: Mapping[tuple[str, ...], float] | None = None
) -> list[Row]:
    """Means and spreads over seeds, a row for each method, dataset, varying settings and metric.

    Where runs on a dataset are scored on several, what they are scored on is one of the settings.
    """
    known = published or {}
    values: dict[tuple[str, str, str, str, str], list[float]] = {}
    scored_on: dict[str, set[str]] = {}
    for plan, run in done:
        scored_on.setdefault(run.data_name, set()).update(
            score.get("on", "") for score in scores_of(plan, run)
        )
    for plan, run in done:
        own = _varying(plan, [other for other, _ in done])
        for score in scores_of(plan, run):
            on = {"on": score.get("on", "")} if len(scored_on[run.data_name]) > 1 else {}
            varying = json.dumps(describe(own | on), sort_keys=True)
            key = (plan.method, run.data_name, varying, score["metric"], score["protocol"])
            values.setdefault(key, []).append(score["value"])
    return [
        Row(
            method,
            data,
            json.loads(settings),
            metric,
            protocol,
            statistics.fmean(numbers),
            statistics.stdev(numbers) if len(numbers) > 1 else None,
            len(numbers),
            _published(known, method, data, json.loads(settings), metric),
        )
        for (method, data, settings, metric, protocol), numbers in values.items()
    ]


def _published(
    known: Mapping[tuple[str, ...], float], method: str, data: str, settings: Mapping[str, Any], metric: str
) -> float | None:
    """The published value under the most that is said of it: `("sw-vae", "rooms", "divergence=jsd", "mig")`."""
    said = [f"{name}={_written(value)}" for name, value in settings.items()]
    said = [", ".join(said), *said] if len(said) > 1 else said
    keys = [(method, data, setting, metric) for setting in said]
    keys += [(method, setting, metric) for setting in said]
    keys += [(method, data, metric), (method, metric)]
    return next((known[key] for key in keys if key in known), None)


def _varying(plan: Plan, plans: Sequence[Plan]) -> dict[str, Any]:
    """The plan's options that not all plans of its method share, seed left out."""
    peers = [other.options for other in plans if other.method == plan.method]
    return {
        name: value
        for name, value in plan.options.items()
        if name != "seed" and any(name not in other or other[name] != value for other in peers)
    }


def markdown(rows: Sequence[Row], published: Mapping[tuple[str, ...], float] | None = None) -> str:
    """The table for people: a line a setting, a column a score; a metric's further numbers where some are published."""
    further = {key[-1] for key in published or {}}
    headlines = [row for row in rows if "." not in row.metric or row.metric in further]
    metrics = list(dict.fromkeys((row.metric, row.protocol) for row in headlines))
    lines: dict[tuple[str, str, str], dict[tuple[str, str], str]] = {}
    for row in headlines:
        settings = ", ".join(f"{name} {_written(value)}" for name, value in row.settings.items())
        spread = "" if row.std is None else f" ± {row.std:.3g}"
        paper = "" if row.published is None else f" [{row.published:.3g}]"
        cells = lines.setdefault((row.method, row.data, settings), {})
        cells[(row.metric, row.protocol)] = f"{row.mean:.4g}{spread} (n={row.n}){paper}"
    heading = [
        "method",
        "data",
        "settings",
        *(f"{metric} ({law})" if law else metric for metric, law in metrics),
    ]
    table = [heading, ["---"] * len(heading)]
    table += [[*key, *(cells.get(metric, "") for metric in metrics)] for key, cells in lines.items()]
    note = "\nMean ± standard deviation over n seeds"
    note += "; published values in brackets.\n" if any(row.published is not None for row in rows) else ".\n"
    return "\n".join("| " + " | ".join(line) + " |" for line in table) + "\n" + note


def _written(value: Any) -> str:
    return value["plain"] if isinstance(value, dict) and "plain" in value else str(value)
