"""Heat maps: joint distribution of two factors, importance of dimensions, rank correlation of metrics.

Unsupervised Disentanglement Learning by Intervention, 2021: Figs. 3, 4a and 6.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float

from unbraid.data import Dataset
from unbraid.report.charts import foreground_color
from unbraid.report.image_grid import RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Chart


def joint_chart(dataset: Dataset, first: str, second: str, *, dark: bool = False) -> "Chart":
    """Relative frequency of each pair of values of two factors; the most frequent pair has 1 (Fig. 6)."""
    table = joint(dataset, first, second)
    width = min(6.0, 1.6 + 0.2 * table.shape[1])
    figure, axes = _panel(dark, width, min(6.0, 1.2 + 0.2 * table.shape[0]))
    image = axes.imshow(table, cmap="viridis", vmin=0, vmax=1, origin="lower", aspect="auto")
    axes.set_xlabel(second)
    axes.set_ylabel(first)
    _color_bar(figure, image, axes, dark, (0.0, 0.5, 1.0))
    return figure


def joint(dataset: Dataset, first: str, second: str) -> Float[np.ndarray, "v w"]:
    """Table of `joint_chart`: the exact distribution of a factor space, or the counts of stored observations."""
    tables = dataset.to("cpu", observations=False)
    if tables.factor_space is None:
        raise ValueError(f"{dataset.name} has no known factors, so it has no joint distribution to show.")
    columns = [tables.factor_space.column(name) for name in (first, second)]
    rows = tables.indices()
    values = tables.factors(rows)
    assert values is not None
    weight = tables.factor_space.weight(rows if tables.combinations is None else tables.combinations[rows])
    table = torch.zeros([tables.factor_space.sizes[column] for column in columns], dtype=torch.float64)
    table.index_put_((values[:, columns[0]], values[:, columns[1]]), weight.double(), accumulate=True)
    return (table / table.max()).numpy()


def importance_chart(
    importances: Float[np.ndarray, "d k"],
    factors: Sequence[str],
    *,
    rows: Sequence[str] | None = None,
    highlight: Sequence[str] = (),
    dark: bool = False,
) -> "Chart":
    """DCI importance of each dimension or strand for each factor; highlighted factors are red (Fig. 4a)."""
    from matplotlib.patches import Rectangle

    names = [str(dim) for dim in range(len(importances))] if rows is None else list(rows)
    figure, axes = _panel(dark, 1.6 + 0.62 * len(factors), 1.0 + 0.26 * len(names))
    image = axes.imshow(
        importances, cmap="Greys", vmin=0, vmax=max(float(importances.max()), 1e-9), aspect="auto"
    )
    axes.set_xticks(range(len(factors)), factors, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylabel("dimension" if all(name.isdecimal() for name in names) else "strand")
    for column, (name, label) in enumerate(zip(factors, axes.get_xticklabels(), strict=True)):
        if name in highlight:
            best = int(importances[:, column].argmax())
            axes.add_patch(
                Rectangle((column - 0.5, best - 0.5), 1, 1, fill=False, edgecolor=RED, linewidth=2)
            )
            label.set_color(RED)
    _color_bar(figure, image, axes, dark, None)
    return figure


def rank_chart(
    names: Sequence[str], coefficients: Float[np.ndarray, "m m"], *, dark: bool = False
) -> "Chart":
    """Spearman's rank correlation between metrics over many models (Fig. 3)."""
    cells, label = 0.62 * len(names), 0.075 * max(map(len, names))
    figure, axes = _panel(dark, cells + label + 1.1, cells + 0.6 * label + 0.5)
    image = axes.imshow(coefficients, cmap="RdBu_r", vmin=-1, vmax=1)
    for (row, column), value in np.ndenumerate(coefficients):
        color = "white" if abs(value) > 0.6 else "#22262b"
        axes.text(
            column,
            row,
            f"{value:.2f}".replace("-", "−"),
            ha="center",
            va="center",
            fontsize=8.5,
            color=color,
        )
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right")
    axes.set_yticks(range(len(names)), names)
    _color_bar(figure, image, axes, dark, (-1.0, 0.0, 1.0))
    return figure


def _panel(dark: bool, width: float, height: float) -> "tuple[Chart, Axes]":
    from matplotlib.figure import Figure as Chart

    figure = Chart(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.tick_params(colors=foreground_color(dark), labelsize=8.5, length=0)
    axes.xaxis.label.set(color=foreground_color(dark), fontsize=9)
    axes.yaxis.label.set(color=foreground_color(dark), fontsize=9)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure, axes


def _color_bar(
    figure: "Chart", image: object, axes: "Axes", dark: bool, ticks: Sequence[float] | None
) -> None:
    bar = figure.colorbar(image, ax=axes, fraction=0.05, pad=0.03, ticks=ticks)  # type: ignore[arg-type]
    bar.ax.tick_params(colors=foreground_color(dark), labelsize=8, length=0)
    bar.outline.set_visible(False)  # type: ignore[operator]
