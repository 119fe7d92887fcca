"""Charts of a study: a score over one of its settings."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from unbraid.report.charts import COLOURS, DARK_COLOURS, chart
from unbraid.results import Row

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
        colour = (DARK_COLOURS if dark else COLOURS)[place % len(COLOURS)]
        axes.errorbar(
            at, mean, spread, color=colour, marker="o", markersize=4, linewidth=1.6, capsize=2, label=label
        )
    if logarithmic:
        least = min(value for points in lines.values() for value, _, _ in points if value > 0)
        axes.set_xscale("symlog", linthresh=least)
    axes.set_xlabel(setting)
    axes.set_ylabel(metric.rpartition(":")[2].replace("_", " "))
    axes.set_title(metric, loc="left", fontsize=10, color=axes.yaxis.label.get_color())
    if len(lines) > 1:
        axes.legend(frameon=False, fontsize=9, labelcolor="linecolor", handlelength=1.2)
    return figure
