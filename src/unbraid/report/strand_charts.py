"""Charts of strands: how far codes move when one factor changes, and maps coloured by a factor."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unbraid.report.charts import COLOURS, DARK_COLOURS
from unbraid.report.strand_figures import CodeChanges, StrandMaps, leaves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST = 16  # codes of a strand that can be told apart side by side


def change_chart(
    changes: CodeChanges, strands: Mapping[str, Sequence[int]], *, dark: bool = False
) -> "Figure":
    """A heat map: a row for each factor, a column for each code, strand by strand; of a strand of many codes those
    that move most."""
    from matplotlib.figure import Figure

    ink = _ink(dark)
    whole = {name: list(strands[name]) for name in leaves(strands)}
    placed = {code for part in whole.values() for code in part}
    whole[""] = [code for code in range(changes.change.shape[1]) if code not in placed]
    parts = {name: _busiest(part, changes) for name, part in whole.items() if part}
    order = [code for part in parts.values() for code in part]
    across = max(4.2, 0.24 * len(order) + 1.6)
    figure = Figure(figsize=(across, 0.34 * len(changes.factors) + 1.3), layout="constrained")
    axes = figure.add_subplot()
    shown = axes.imshow(changes.change[:, order], cmap="magma", vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_yticks(range(len(changes.factors)), changes.factors)
    axes.set_xticks(range(len(order)), [str(code) for code in order])
    axes.tick_params(colors=ink, labelsize=8, length=0)
    start = 0
    for name, part in parts.items():
        if start:
            axes.axvline(start - 0.5, color="#ffffff", linewidth=1.5)
        middle = start + len(part) / 2 - 0.5
        cut = f", {len(part)} of {len(whole[name])}" if len(part) < len(whole[name]) else ""
        axes.text(middle, -0.62, name + cut, ha="center", va="bottom", fontsize=8.5, color=ink)
        start += len(part)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel("code", color=ink, fontsize=9)
    bar = figure.colorbar(shown, ax=axes, fraction=0.04, pad=0.02, extend="max", ticks=[0, 0.5, 1])
    bar.ax.tick_params(colors=ink, labelsize=8, length=0)
    bar.outline.set_visible(False)  # type: ignore[operator]
    return figure


def _busiest(codes: list[int], changes: CodeChanges) -> list[int]:
    """The codes that some factor moves most, in their order."""
    moved = changes.change.max(0)
    return sorted(sorted(codes, key=lambda code: -moved[code])[:MOST])


def map_chart(maps: StrandMaps, *, dark: bool = False) -> "Figure":
    """A panel for each strand, its points coloured by the factor."""
    from matplotlib.figure import Figure

    ink = _ink(dark)
    values = sorted(set(maps.values.tolist()), key=_rank)
    figure = Figure(figsize=(2.7 * len(maps.points) + 1.0, 2.8), layout="constrained")
    panels: Sequence[Axes] = np.atleast_1d(figure.subplots(1, len(maps.points))).tolist()
    for axes, (strand, points) in zip(panels, maps.points.items(), strict=True):
        axes.set_facecolor("none")
        for value, colour in zip(values, _colours(values, dark), strict=True):
            here = points[maps.values == value]
            axes.scatter(*here.T, s=5, color=colour, label=str(value), linewidths=0, rasterized=True)
        axes.set_title(strand, loc="left", fontsize=10, color=ink)
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_color(ink)
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
        labelcolor=ink,
        markerscale=2,
    ).get_title().set_color(ink)
    return figure


def _ink(dark: bool) -> str:
    return "#c9ced6" if dark else "#4a4f57"


def _rank(value: object) -> tuple[int, float, str]:
    """Numbers in their order, before words in theirs."""
    try:
        return 0, float(str(value)), ""
    except ValueError:
        return 1, 0.0, str(value)


def _colours(values: Sequence[object], dark: bool) -> list[object]:
    """Shades for values on a scale, different colours for words; colours that are values themselves stay."""
    from matplotlib import colormaps

    words = [str(value) for value in values]
    if all(len(word) == 6 and set(word) <= set("0123456789abcdef") for word in words):
        return [f"#{word}" for word in words]
    if any(_rank(value)[0] for value in values) and len(values) <= len(COLOURS):
        return list((DARK_COLOURS if dark else COLOURS)[: len(values)])
    return [colormaps["viridis"](place) for place in np.linspace(0, 0.95, len(values))]
