"""Charts of a study: a score over one of its settings."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from unbraid.report.charts import add_legend, chart, line_style
from unbraid.tables import Row

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
    """A line for each method and dataset: a score's mean over seeds, with its spread, over one setting.

    Args:
        rows: Of a study's result.
        setting: What the lines run over, such as `lambda_z`; rows without it are left out.
        metric: The score, such as `salient:clustering`.
        names: What methods are called in the legend, where not by their own name.
        logarithmic: Whether the settings are spaced by their ratios; 0 is put in front.
        dark: For a dark page.
    """
    lines: dict[str, list[tuple[float, float, float]]] = {}
    datasets = {row.data for row in rows}
    for row in rows:
        if row.metric == metric and setting in row.settings:
            name = (names or {}).get(row.method, row.method)
            label = name if len(datasets) == 1 else f"{name}, {row.data}"
            lines.setdefault(label, []).append((float(row.settings[setting]), row.mean, row.std or 0.0))
    if not lines:
        raise ValueError(f"No row of the study has the score {metric!r} at a value of {setting!r}.")
    figure, axes = chart(dark)
    for place, (label, points) in enumerate(lines.items()):
        at, mean, spread = (list(column) for column in zip(*sorted(points), strict=True))
        colour, stroke = line_style(place, dark)
        axes.errorbar(
            *(at, mean, spread),
            color=colour,
            linestyle=stroke,
            marker="o",
            markersize=4,
            linewidth=1.6,
            capsize=2,
            label=label,
        )
    if logarithmic:
        least = min(value for points in lines.values() for value, _, _ in points if value > 0)
        axes.set_xscale("symlog", linthresh=least)
    axes.set_xlabel(setting)
    axes.set_ylabel(metric.rpartition(":")[2].replace("_", " "))
    axes.set_title(metric, loc="left", fontsize=10, color=axes.yaxis.label.get_color())
    if len(lines) > 1:
        add_legend(figure, axes, len(lines))
    return figure


def swept(rows: Sequence[Row]) -> list[str]:
    """The settings that take several numbers within one method on one dataset."""
    values: dict[str, dict[tuple[str, str], set[float]]] = {}
    for row in rows:
        for name, value in row.settings.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                values.setdefault(name, {}).setdefault((row.method, row.data), set()).add(float(value))
    return [name for name, found in values.items() if any(len(numbers) > 1 for numbers in found.values())]


def along(rows: Sequence[Row], setting: str, metric: str) -> list[Row]:
    """The rows of a score by one setting alone: where others vary too, their mean and its spread."""
    found: dict[tuple[str, str, float], list[Row]] = {}
    for row in rows:
        value = row.settings.get(setting)
        if row.metric == metric and isinstance(value, int | float) and not isinstance(value, bool):
            found.setdefault((row.method, row.data, float(value)), []).append(row)
    return [
        group[0]._replace(
            settings={setting: value},
            mean=statistics.fmean(row.mean for row in group),
            std=group[0].std if len(group) == 1 else statistics.stdev(row.mean for row in group),
        )
        for (_, _, value), group in found.items()
    ]
