"""Charts of a study: a score over one hyperparameter."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from unbraid.report.charts import add_legend, chart, line_style
from unbraid.studies import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sweep_chart(
    rows: Sequence[Row],
    setting: str,
    metric: str,
    *,
    names: Mapping[str, str] | None = None,
    logarithmic: bool = False,
    dark: bool = False,
) -> "Figure":
    """Mean score over seeds and its standard deviation over one hyperparameter, one line per method and dataset.

    Args:
        rows: Rows of a study.
        setting: Hyperparameter on the x axis, e.g. `lambda_z`; rows without it are left out.
        metric: Score on the y axis, e.g. `salient:clustering`.
        names: Labels of methods in the legend. Default: the method names.
        logarithmic: Whether the x axis is logarithmic (linear near 0).
        dark: Whether the background is dark.
    """
    lines: dict[str, list[tuple[float, float, float]]] = {}
    datasets = {row.data for row in rows}
    for row in rows:
        if row.metric == metric and setting in row.settings:
            name = (names or {}).get(row.method, row.method)
            label = name if len(datasets) == 1 else f"{name}, {row.data}"
            lines.setdefault(label, []).append((float(row.settings[setting]), row.mean, row.std or 0.0))
    if not lines:
        raise ValueError(
            f"No row of the study has a score {metric!r} with a value of {setting!r}. Choose another score or option."
        )
    figure, axes = chart(dark)
    for index, (label, points) in enumerate(lines.items()):
        x, mean, std = (list(column) for column in zip(*sorted(points), strict=True))
        color, stroke = line_style(index, dark)
        axes.errorbar(
            *(x, mean, std),
            color=color,
            linestyle=stroke,
            marker="o",
            markersize=4,
            linewidth=1.6,
            capsize=2,
            label=label,
        )
    if logarithmic:
        smallest = min(value for points in lines.values() for value, _, _ in points if value > 0)
        axes.set_xscale("symlog", linthresh=smallest)
    axes.set_xlabel(setting)
    axes.set_ylabel(metric.rpartition(":")[2].replace("_", " "))
    axes.set_title(metric, loc="left", fontsize=10, color=axes.yaxis.label.get_color())
    if len(lines) > 1:
        add_legend(figure, axes, len(lines))
    return figure


def varied_settings(rows: Sequence[Row]) -> list[str]:
    """The options that take several numeric values within one method and dataset."""
    values: dict[str, dict[tuple[str, str], set[float]]] = {}
    for row in rows:
        for name, value in row.settings.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                values.setdefault(name, {}).setdefault((row.method, row.data), set()).add(float(value))
    return [name for name, by_plan in values.items() if any(len(numbers) > 1 for numbers in by_plan.values())]


def mean_over_others(rows: Sequence[Row], setting: str, metric: str) -> list[Row]:
    """The rows of a score by one option; mean and standard deviation over all other options that vary."""
    groups: dict[tuple[str, str, float], list[Row]] = {}
    for row in rows:
        value = row.settings.get(setting)
        if row.metric == metric and isinstance(value, int | float) and not isinstance(value, bool):
            groups.setdefault((row.method, row.data, float(value)), []).append(row)
    return [
        group[0]._replace(
            settings={setting: value},
            mean=statistics.fmean(row.mean for row in group),
            std=group[0].std if len(group) == 1 else statistics.stdev(row.mean for row in group),
        )
        for (_, _, value), group in groups.items()
    ]
