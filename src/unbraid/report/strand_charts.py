"""Charts of strands: change per dimension when one factor changes, and t-SNE colored by a factor."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unbraid.data import Dataset
from unbraid.report.charts import COLORS, DARK_COLORS, Chart, chart_of, foreground_color
from unbraid.report.strand_figures import DimChanges, StrandMaps, dim_changes, strand_maps
from unbraid.runs import Model
from unbraid.strands import innermost_strands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MAX_DIMS = 16  # maximum number of dimensions shown per strand


def changes(model: Model, dataset: Dataset) -> Chart:
    """Change of each dimension when one factor changes."""
    dims_by_factor = dim_changes(model, dataset)
    return chart_of(
        "Change per dimension when one factor changes",
        "Mean change of each dimension when one factor changes; 1 is the mean difference of two random images.",
        lambda dark: change_chart(dims_by_factor, model.strands, dark=dark),
    )


def maps(model: Model, dataset: Dataset) -> Chart:
    """A t-SNE map per strand."""
    maps_of_strands = strand_maps(model, dataset)
    return chart_of(
        "t-SNE per strand",
        f"t-SNE of each strand, colored by {maps_of_strands.factor}.",
        lambda dark: map_chart(maps_of_strands, dark=dark),
    )


def change_chart(
    changes: DimChanges, strands: Mapping[str, Sequence[int]], *, dark: bool = False
) -> "Figure":
    """Heat map with one row per factor and one column per dimension, grouped by strand.

    Each strand shows at most its MAX_DIMS dimensions with the largest change.
    """
    from matplotlib.figure import Figure

    color = foreground_color(dark)
    dims_of = {name: list(strands[name]) for name in innermost_strands(strands)}
    in_strands = {dim for dims in dims_of.values() for dim in dims}
    dims_of[""] = [dim for dim in range(changes.change.shape[1]) if dim not in in_strands]
    shown = {name: _most_changed(dims, changes) for name, dims in dims_of.items() if dims}
    order = [dim for dims in shown.values() for dim in dims]
    width = max(4.2, 0.24 * len(order) + 1.6)
    figure = Figure(figsize=(width, 0.34 * len(changes.factors) + 1.3), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(changes.change[:, order], cmap="magma", vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_yticks(range(len(changes.factors)), changes.factors)
    axes.set_xticks(range(len(order)), [str(dim) for dim in order])
    axes.tick_params(colors=color, labelsize=8, length=0)
    start = 0
    for name, dims in shown.items():
        if start:
            axes.axvline(start - 0.5, color="#ffffff", linewidth=1.5)
        middle = start + len(dims) / 2 - 0.5
        count = f", {len(dims)} of {len(dims_of[name])}" if len(dims) < len(dims_of[name]) else ""
        axes.text(middle, -0.62, name + count, ha="center", va="bottom", fontsize=8.5, color=color)
        start += len(dims)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel("dimension", color=color, fontsize=9)
    bar = figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02, extend="max", ticks=[0, 0.5, 1])
    bar.ax.tick_params(colors=color, labelsize=8, length=0)
    bar.outline.set_visible(False)  # type: ignore[operator]
    return figure


def _most_changed(dims: list[int], changes: DimChanges) -> list[int]:
    """The dimensions with the largest change by any factor, in ascending order."""
    largest = changes.change.max(0)
    return sorted(sorted(dims, key=lambda dim: -largest[dim])[:MAX_DIMS])


def map_chart(maps: StrandMaps, *, dark: bool = False) -> "Figure":
    """One panel per strand, with points colored by the factor."""
    from matplotlib.figure import Figure

    color = foreground_color(dark)
    values = sorted(set(maps.values.tolist()), key=_sort_key)
    figure = Figure(figsize=(2.7 * len(maps.points) + 1.0, 2.8), layout="constrained")
    panels: Sequence[Axes] = np.atleast_1d(figure.subplots(1, len(maps.points))).tolist()
    for axes, (strand, points) in zip(panels, maps.points.items(), strict=True):
        axes.set_facecolor("none")
        for value, value_color in zip(values, _colors(values, dark), strict=True):
            members = points[maps.values == value]
            axes.scatter(*members.T, s=5, color=value_color, label=str(value), linewidths=0, rasterized=True)
        axes.set_title(strand, loc="left", fontsize=10, color=color)
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_color(color)
            spine.set_linewidth(0.4)
    handles, labels = panels[-1].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        title=maps.factor,
        loc="outside right center",
        frameon=False,
        fontsize=8,
        title_fontsize=8.5,
        labelcolor=color,
        markerscale=2,
    ).get_title().set_color(color)
    return figure


def _sort_key(value: object) -> tuple[int, float, str]:
    """Sort key: numbers first, then text."""
    try:
        return 0, float(str(value)), ""
    except ValueError:
        return 1, 0.0, str(value)


def _colors(values: Sequence[object], dark: bool) -> list[object]:
    """A color scale for numbers, distinct colors for text; values that are hex colors keep their color."""
    from matplotlib import colormaps

    texts = [str(value) for value in values]
    if all(len(text) == 6 and set(text) <= set("0123456789abcdef") for text in texts):
        return [f"#{text}" for text in texts]
    if any(_sort_key(value)[0] for value in values) and len(values) <= len(COLORS):
        return list((DARK_COLORS if dark else COLORS)[: len(values)])
    return [colormaps["viridis"](index) for index in np.linspace(0, 0.95, len(values))]
