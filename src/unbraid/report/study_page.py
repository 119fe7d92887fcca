"""The page of a study: its tables, what follows from them, and one run of each method to look at."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.compare import Comparison, compare_methods, rank_correlations
from unbraid.plan import Plan
from unbraid.progress import duration
from unbraid.report.charts import curves_of, file_bytes
from unbraid.report.page import Foreword, shared
from unbraid.report.rendering import templates, uri
from unbraid.report.subjects import Subject, subject_of, with_explorers
from unbraid.report.sweeps import along, sweep_chart, swept
from unbraid.results import StudyFolder, open_study, scores_of, tidy, varying_options
from unbraid.runs import Run, write_atomically
from unbraid.settings import describe
from unbraid.tables import Row, direction, html

MOST_SHOWN = 12  # runs to look at
MOST_EFFECTS = 24  # charts of what settings do
MOST_BYTES = 9_500_000  # of a page; of a heavier one, fewer runs are shown


class Effect(NamedTuple):
    """What a setting does to a score, on light and on dark ground."""

    words: str
    light: str
    dark: str


def write_study_report(
    folder: Path | str,
    out: Path | str | None = None,
    *,
    title: str | None = None,
    root: Path | str | None = None,
    explorers: bool = False,
) -> Path:
    """Writes one self-contained HTML page about a study.

    Args:
        folder: Of the study.
        out: The HTML file; `report.html` in the study's folder by default.
        title: The page's title; the recipe's name otherwise.
        root: The data root, for runs on official files.
        explorers: Whether to write the explorers of the runs that are shown, too; those that exist are linked.
    """
    study = open_study(folder)
    if not study.done and not study.failures:
        raise ValueError(f"{folder} has no finished runs to report on: let the study finish some.")
    path = study.folder / "report.html" if out is None else Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    chosen = shown_runs(study)
    if explorers:
        write_explorers([run for _, run in chosen], root)
    subjects = [subject_of(run, label, root) for (_, run), label in zip(chosen, _labels(chosen), strict=True)]
    subjects = with_explorers(subjects, path)
    content = render(study, subjects, title or study.recipe).encode()
    shown = subjects
    while len(content) > MOST_BYTES and len(shown) > 1:
        shown = shown[: len(shown) // 2]
        content = render(study, shown, title or study.recipe, hidden=len(subjects) - len(shown)).encode()
    write_atomically(path, content)
    return path


def write_explorers(runs: Sequence[Run], root: Path | str | None = None) -> None:
    """Writes an explorer into the folder of each run that can have one, and says why another has none."""
    from unbraid.explore import write_explorer

    for run in runs:
        try:
            write_explorer(run, root=root)
        except (ValueError, OSError) as error:  # too large for a page, or nothing to show
            print(f"{run.folder.name} has no explorer: {error}", file=sys.stderr)


def render(study: StudyFolder, subjects: Sequence[Subject], title: str, *, hidden: int = 0) -> str:
    """The page as text; `hidden` is how many runs more there would be to look at."""
    from markupsafe import Markup

    rows, records = study.rows, tidy(study.done)
    datasets = dict.fromkeys(row.data for row in rows)
    by_data = [[row for row in rows if row.data == data] for data in datasets]
    comparisons = compare_methods(records)
    curves = curves_of({subject.label: subject.run.history() for subject in subjects})
    return (
        templates(light=True)
        .get_template("study.html")
        .render(
            title=title,
            study=study,
            hidden=hidden,
            foreword=Foreword(),
            facts=_facts(study),
            results=[Markup(html(part, study.published)) for part in by_data],
            comparisons=[one for one in comparisons if one.low is not None],
            unpaired=comparisons and all(one.low is None for one in comparisons),
            interval=_interval,
            correlations=rank_correlations(records),
            effects=_effects(rows),
            **shared(subjects, curves),
        )
    )


def shown_runs(study: StudyFolder) -> list[tuple[Plan, Run]]:
    """One run for each method and dataset, or for each method where that would be too many.

    It is the one nearest to the mean of the best setting by the first score that has a better and a worse side.
    """
    groups: dict[tuple[str, str], list[tuple[Plan, Run]]] = {}
    for plan, run in study.done:
        if run.finished:
            groups.setdefault((plan.method, run.data_name), []).append((plan, run))
    if len(groups) > MOST_SHOWN:
        first: dict[str, tuple[str, str]] = {}
        for key in groups:
            first.setdefault(key[0], key)
        groups = {key: groups[key] for key in list(first.values())[:MOST_SHOWN]}
    return [_typical(group) for group in groups.values()]


def _typical(group: Sequence[tuple[Plan, Run]]) -> tuple[Plan, Run]:
    metric = next((name for name in group[0][0].metrics if direction(name)), None)
    settings: dict[str, list[tuple[float, tuple[Plan, Run]]]] = {}
    for plan, run in group:
        value = next((score["value"] for score in scores_of(plan, run) if score["metric"] == metric), None)
        if value is not None and math.isfinite(value):
            options = {name: option for name, option in plan.options.items() if name != "seed"}
            settings.setdefault(str(describe(options)), []).append((value, (plan, run)))
    if metric is None or not settings:
        return group[0]
    means = {name: sum(value for value, _ in found) / len(found) for name, found in settings.items()}
    best = max(means, key=lambda name: direction(metric) * means[name])
    return min(settings[best], key=lambda one: abs(one[0] - means[best]))[1]


def _labels(chosen: Sequence[tuple[Plan, Run]]) -> list[str]:
    datasets = {run.data_name for _, run in chosen}
    return [
        plan.method if len(datasets) == 1 else f"{plan.method} on {run.data_name}" for plan, run in chosen
    ]


def _facts(study: StudyFolder) -> list[tuple[str, str]]:
    """What was run, name by name."""
    plans, runs = [plan for plan, _ in study.done], [run for _, run in study.done]
    varying = varying_options(plans)
    settings = dict.fromkeys(name for names in varying.values() for name in sorted(names))
    histories = [history[-1]["seconds"] for run in runs if (history := run.history())]
    versions = [run.versions() for run in runs]
    failed = f", {len(study.failures)} failed" if study.failures else ""
    facts: dict[str, Any] = {
        "runs": f"{len(runs)} of {study.asked} done{failed}",
        "methods": ", ".join(dict.fromkeys(plan.method for plan in plans)),
        "data": ", ".join(dict.fromkeys(run.data_name for run in runs)),
        "what varies": ", ".join(settings),
        "seeds": ", ".join(map(str, sorted({run.seed for run in runs}))),
        "steps": ", ".join(f"{steps:,}" for steps in sorted({run.steps for run in runs})),
        "training took": duration(sum(histories)) if histories else "",
        "devices": "; ".join(dict.fromkeys(found.get("device", "") for found in versions)),
        "Unbraid": ", ".join(dict.fromkeys(found.get("unbraid", "") for found in versions)),
        "torch": ", ".join(dict.fromkeys(found.get("torch", "") for found in versions)),
    }
    return [(name, value) for name, value in facts.items() if value]


def _effects(rows: Sequence[Row]) -> list[Effect]:
    """Charts of scores over the settings that take several numbers."""
    metrics = [name for name in dict.fromkeys(row.metric for row in rows) if "." not in name]
    metrics.sort(key=lambda name: direction(name) == 0)
    effects = []
    for metric in metrics:
        for setting in swept(rows):
            found = along(rows, setting, metric)
            if len({row.settings[setting] for row in found}) < 2 or len(effects) == MOST_EFFECTS:
                continue
            values = [row.settings[setting] for row in found]
            far = min(values) >= 0 and max(values) > 20 * min([value for value in values if value > 0])
            light, dark = (
                uri(
                    file_bytes(sweep_chart(found, setting, metric, logarithmic=far, dark=dark), "svg"),
                    "image/svg+xml",
                )
                for dark in (False, True)
            )
            effects.append(Effect(f"{metric} over {setting}", light, dark))
    return effects


def _interval(comparison: Comparison) -> str:
    assert comparison.low is not None and comparison.high is not None
    return f"{comparison.low:+.3g} to {comparison.high:+.3g}".replace("-", "−")
