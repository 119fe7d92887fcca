"""Figures of contrastive learning on subembeddings: view pairs, digit locations, probe accuracies, t-SNE.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding, ICML workshop: Figs. 1 to 5 and its tables.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator

from unbraid.data import DIGIT_SIDE, LEFTS, TOPS, Dataset, ViewDraw
from unbraid.report.charts import COLORS, DARK_COLORS, foreground_color, panels_of
from unbraid.report.figures import Figure, Row
from unbraid.runs import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Chart

SCORE = "disentanglement_gap"


def view_pairs(dataset: Dataset, *, count: int = 8, seed: int = 0, views: ViewDraw | None = None) -> Figure:
    """Pairs of views, one above the other, and the factors that they share (Figs. 2 to 4)."""
    views = views or ViewDraw(crop=1.0, flip=0.0, color_jitter=0.0)
    views.check(dataset)
    batch = views(dataset.to("cpu"), count, Generator().manual_seed(seed), torch.tensor(0))
    caption = "Each column is a pair of views."
    if batch.factors is not None and batch.factors2 is not None and dataset.factor_space is not None:
        same = (batch.factors == batch.factors2).all(0).tolist()
        names = [name for name in dataset.factor_space.names if name != dataset.instance]
        shared = [name for name, equal in zip(names, same, strict=False) if equal]
        if shared and len(shared) < len(names):
            other = [name for name in names if name not in shared]
            caption += f" The views share {' and '.join(shared)} and differ in {' and '.join(other)}."
    return Figure((Row("view 0", batch.x1), Row("view 1", batch.x2)), caption=caption)


def location_chart(side: int = 64, shown: Sequence[int] = (3, 5), *, dark: bool = False) -> "Chart":
    """The eight locations of a digit's center, and the digit's box at two of them (Fig. 1)."""
    from matplotlib.patches import Rectangle

    figure, (axes,) = panels_of(1, dark, width=3.0, height=3.0)
    corners = [(left, top) for top in TOPS for left in LEFTS]
    for number, (left, top) in enumerate(corners, start=1):
        center = left + DIGIT_SIDE / 2, top + DIGIT_SIDE / 2
        axes.plot(*center, "o", color=foreground_color(dark), markersize=4)
        axes.annotate(
            str(number), center, (3, 3), textcoords="offset points", color=foreground_color(dark), fontsize=9
        )
        if number in shown:
            color = (DARK_COLORS if dark else COLORS)[2 * shown.index(number)]
            axes.add_patch(
                Rectangle((left, top), DIGIT_SIDE, DIGIT_SIDE, fill=False, edgecolor=color, linewidth=1.6)
            )
    axes.set(
        xlim=(0, side), ylim=(side, 0), aspect="equal", xticks=(0, 16, 32, 48, 64), yticks=(0, 16, 32, 48, 64)
    )
    axes.grid(visible=False)
    return figure


def tradeoff_chart(
    history: Sequence[Mapping[str, float | int]],
    terms: Sequence[str] = ("infomax", "infomin"),
    *,
    dark: bool = False,
) -> "Chart":
    """Terms of one run over its steps, one panel per term (Fig. 5)."""
    present = [term for term in terms if any(term in line for line in history)]
    if not present:
        raise ValueError(f"The history contains none of {', '.join(terms)}. Choose another run.")
    figure, panels = panels_of(len(present), dark, width=4.2, height=2.7)
    for axes, term, color in zip(panels, present, DARK_COLORS if dark else COLORS, strict=False):
        lines = [line for line in history if term in line]
        axes.plot(
            [line["step"] for line in lines], [line[term] for line in lines], color=color, linewidth=1.6
        )
        axes.set_title(term, loc="left", fontsize=10, color=foreground_color(dark))
        axes.set_xlabel("step")
        axes.set_ylabel("nats per image")
    return figure


def accuracy_chart(tables: Mapping[str, Mapping[str, float]], *, dark: bool = False) -> "Chart":
    """Accuracy of linear probes in percent, one heat map per table.

    Args:
        tables: By title, accuracies by strand and factor: `z.digit`, `z0.digit`, …, `chance.digit`.
        dark: Whether the background is dark.
    """
    from matplotlib import colormaps

    count = len(tables)
    columns = min(count, 4)
    grids = {title: _grid(table) for title, table in tables.items()}
    parts, factors, _ = next(iter(grids.values()))
    width, height = 0.9 + 0.62 * len(factors), 0.75 + 0.34 * len(parts)
    figure, panels = panels_of(count, dark, width=width, height=height, columns=columns)
    for axes, (title, (rows, names, values)) in zip(panels, grids.items(), strict=True):
        axes.imshow(values, cmap=colormaps["Blues"], vmin=0, vmax=1, aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            color = "white" if value > 0.55 else "#22262b"
            axes.text(column, row, f"{100 * value:.1f}", ha="center", va="center", fontsize=8.5, color=color)
        axes.set_xticks(range(len(names)), names)
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.set_title(title, loc="left", fontsize=9, color=foreground_color(dark))
        for spine in axes.spines.values():
            spine.set_visible(False)
    return figure


def map_chart(
    codes: Float[np.ndarray, "n d"],
    factors: Int[np.ndarray, "n k"],
    names: Sequence[str],
    *,
    seed: int = 0,
    dark: bool = False,
) -> "Chart":
    """t-SNE of the code, one panel per factor, colored by the factor."""
    from matplotlib import colormaps
    from sklearn.manifold import TSNE

    points = TSNE(init="pca", random_state=seed).fit_transform(codes)
    figure, panels = panels_of(len(names), dark, width=2.7, height=2.7)
    for axes, name, column in zip(panels, names, factors.T, strict=True):
        colors = colormaps["tab10"](column % 10)
        axes.scatter(points[:, 0], points[:, 1], s=3, c=colors, linewidths=0)
        axes.set_title(name, loc="left", fontsize=10, color=foreground_color(dark))
        axes.set(xticks=(), yticks=())
        axes.grid(visible=False)
    return figure


def strand_accuracies(run: Run) -> dict[str, dict[str, float]]:
    """Latest probe accuracies of each strand that was scored and of its inner strands, then chance, by strand."""
    names = [score["metric"] for score in run.scores()]
    scored = [name for name in names if name == SCORE or name.endswith(f":{SCORE}")]
    tables = {(name.rpartition(":")[0] or "code"): _accuracies(run, name) for name in scored}
    return {strand: table for strand, table in tables.items() if table}


def _accuracies(run: Run, metric: str) -> dict[str, float]:
    scores = {score["metric"]: score["value"] for score in run.scores()}
    values = {
        name.removeprefix(f"{metric}."): value
        for name, value in scores.items()
        if name.startswith(f"{metric}.")
    }
    whole = metric.rpartition(":")[0] or "code"
    table = {
        name.removeprefix("accuracy.").replace("whole.", f"{whole}."): value
        for name, value in values.items()
        if name.startswith("accuracy.")
    }
    return table | {name: value for name, value in values.items() if name.startswith("chance.")}


def _grid(table: Mapping[str, float]) -> tuple[list[str], list[str], Float[np.ndarray, "strands factors"]]:
    keys = [name.partition(".") for name in table]
    strands = list(dict.fromkeys(strand for strand, _, _ in keys))
    factors = list(dict.fromkeys(factor for _, _, factor in keys))
    return (
        strands,
        factors,
        np.array([[table[f"{strand}.{factor}"] for factor in factors] for strand in strands]),
    )
