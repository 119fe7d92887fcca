"""The report of a study: results tables, comparisons and one example run per method."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.files import write_atomically
from unbraid.progress import duration
from unbraid.report.charts import curves_of, file_bytes
from unbraid.report.figure_table import FigureEntry, FigureFunction
from unbraid.report.page import PageText, shared
from unbraid.report.rendering import templates, uri
from unbraid.report.run_view import RunView, view_run, with_explorers
from unbraid.report.sweeps import mean_over_others, sweep_chart, varied_settings
from unbraid.runs import Run
from unbraid.settings import to_json
from unbraid.studies import (
    Comparison,
    Plan,
    Row,
    StudyFolder,
    compare_methods,
    html,
    is_further,
    open_study,
    rank_correlations,
    scores_for,
    sign,
    varying_options,
)

MAX_RUNS = 12  # example runs
MAX_EFFECTS = 24  # charts of hyperparameters
MAX_BYTES = 9_500_000  # of a page; a larger page shows fewer runs


class Effect(NamedTuple):
    """Chart of a score over a hyperparameter, for light and for dark backgrounds."""

    description: str
    light: str
    dark: str


def write_study_report(
    folder: Path | str,
    out: Path | str | None = None,
    *,
    title: str | None = None,
    root: Path | str | None = None,
    figures: Sequence[str | FigureFunction | FigureEntry] = (),
) -> Path:
    """Writes one self-contained HTML page about a study.

    Figures of runs of your own code need the code to be named before (`unbraid.use`); everything else does not.

    Args:
        folder: Study folder.
        out: HTML file. Default: `report.html` in the study folder.
        title: Title of the page. Default: the name of the recipe.
        root: Data root, for runs on official files.
        figures: Figures of the example runs, as in `write_report`.
    """
    study = open_study(folder)
    if not study.scored and not study.failures:
        raise ValueError(f"{folder} has no finished runs. Continue the study before writing its report.")
    path = study.folder / "report.html" if out is None else Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    chosen = shown_runs(study)
    views = [
        view_run(run, label, root, figures=figures)
        for (_, run), label in zip(chosen, _labels(chosen), strict=True)
    ]
    views = with_explorers(views, path)
    content = render(study, views, title or study.recipe).encode()
    shown = views
    while len(content) > MAX_BYTES and len(shown) > 1:
        shown = shown[: len(shown) // 2]
        content = render(study, shown, title or study.recipe, hidden=len(views) - len(shown)).encode()
    write_atomically(path, content)
    return path


def render(study: StudyFolder, views: Sequence[RunView], title: str, *, hidden: int = 0) -> str:
    """The page as text; `hidden` is the number of example runs that were left out."""
    from markupsafe import Markup

    rows, records = study.rows, study.records
    datasets = dict.fromkeys(row.data for row in rows)
    by_data = [[row for row in rows if row.data == data] for data in datasets]
    comparisons = compare_methods(records)
    curves = curves_of({view.label: view.run.history() for view in views})
    return (
        templates(lossy=True)
        .get_template("study.html")
        .render(
            title=title,
            study=study,
            hidden=hidden,
            page_text=PageText(),
            facts=_facts(study),
            results=[Markup(html(part, study.published)) for part in by_data],
            comparisons=[one for one in comparisons if one.low is not None],
            unpaired=comparisons and all(one.low is None for one in comparisons),
            interval=_interval,
            correlations=rank_correlations(records),
            effects=_effects(rows),
            **shared(views, curves),
        )
    )


def shown_runs(study: StudyFolder) -> list[tuple[Plan, Run]]:
    """One run per method and dataset, or one per method if there are too many.

    The run is the one nearest to the mean of the best setting, by the first metric that has a direction.
    """
    groups: dict[tuple[str, str], list[tuple[Plan, Run]]] = {}
    for plan, run in study.finished:
        if run.finished and run.is_last(plan.evaluation.get("steps")):
            groups.setdefault((plan.method_name, run.data_name), []).append((plan, run))
    if len(groups) > MAX_RUNS:
        first: dict[str, tuple[str, str]] = {}
        for key in groups:
            first.setdefault(key[0], key)
        groups = {key: groups[key] for key in list(first.values())[:MAX_RUNS]}
    return [_typical(group) for group in groups.values()]


def _typical(group: Sequence[tuple[Plan, Run]]) -> tuple[Plan, Run]:
    scores = scores_for(*group[0])
    directed = next((score for score in scores if score["higher_is_better"] is not None), None)
    if directed is None:
        return group[0]
    metric, direction = directed["metric"], sign(directed["higher_is_better"])
    settings: dict[str, list[tuple[float, tuple[Plan, Run]]]] = {}
    for plan, run in group:
        value = next((score["value"] for score in scores_for(plan, run) if score["metric"] == metric), None)
        if value is not None and math.isfinite(value):
            options = {name: option for name, option in plan.options.items() if name != "seed"}
            settings.setdefault(str(to_json(options)), []).append((value, (plan, run)))
    if not settings:
        return group[0]
    means = {name: sum(value for value, _ in scored) / len(scored) for name, scored in settings.items()}
    best = max(means, key=lambda name: direction * means[name])
    return min(settings[best], key=lambda one: abs(one[0] - means[best]))[1]


def _labels(chosen: Sequence[tuple[Plan, Run]]) -> list[str]:
    datasets = {run.data_name for _, run in chosen}
    return [
        plan.method_name if len(datasets) == 1 else f"{plan.method_name} on {run.data_name}"
        for plan, run in chosen
    ]


def _facts(study: StudyFolder) -> list[tuple[str, str]]:
    """Overview of the runs: name and value of each row."""
    records, runs = study.records, [*{run.folder: run for _, run in study.finished}.values()]
    varying = varying_options([one.plan for one in study.scored])
    committed = sum(one.committed for one in study.scored)
    settings = dict.fromkeys(name for names in varying.values() for name in sorted(names))
    histories = [history[-1]["seconds"] for run in runs if (history := run.history())]
    versions = [run.versions() for run in runs]
    failed = f", {len(study.failures)} failed" if study.failures else ""
    facts: dict[str, Any] = {
        "runs": f"{len(study.scored)} of {study.num_plans} done{failed}",
        "from committed rows": f"{committed}" if committed else "",
        "methods": ", ".join(dict.fromkeys(one.plan.method_name for one in study.scored)),
        "data": ", ".join(dict.fromkeys(record["data"] for record in records)),
        "varied options": ", ".join(settings),
        "seeds": ", ".join(map(str, sorted({record["seed"] for record in records}))),
        "steps": ", ".join(f"{steps:,}" for steps in sorted({record["steps"] for record in records})),
        "training time": duration(sum(histories)) if histories else "",
        "devices": "; ".join(dict.fromkeys(version.get("device", "") for version in versions)),
        "Unbraid": ", ".join(dict.fromkeys(version.get("unbraid", "") for version in versions)),
        "torch": ", ".join(dict.fromkeys(version.get("torch", "") for version in versions)),
    }
    return [(name, value) for name, value in facts.items() if value]


def _effects(rows: Sequence[Row]) -> list[Effect]:
    """Charts of each score over each numeric option that takes several values."""
    metrics = [name for name in dict.fromkeys(row.metric for row in rows) if not is_further(name)]
    directed = {row.metric for row in rows if row.higher_is_better is not None}
    metrics.sort(key=lambda name: name not in directed)
    effects = []
    for metric in metrics:
        for setting in varied_settings(rows):
            points = mean_over_others(rows, setting, metric)
            if len({row.settings[setting] for row in points}) < 2 or len(effects) == MAX_EFFECTS:
                continue
            values = [row.settings[setting] for row in points]
            wide = min(values) >= 0 and max(values) > 20 * min([value for value in values if value > 0])
            light, dark = (
                uri(
                    file_bytes(sweep_chart(points, setting, metric, logarithmic=wide, dark=dark), "svg"),
                    "image/svg+xml",
                )
                for dark in (False, True)
            )
            effects.append(Effect(f"{metric} over {setting}", light, dark))
    return effects


def _interval(comparison: Comparison) -> str:
    assert comparison.low is not None and comparison.high is not None
    return f"{comparison.low:+.3g} to {comparison.high:+.3g}".replace("-", "−")
