"""Figures of contrastive learning on subembeddings: view pairs, places, what each part tells, and maps.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding, ICML workshop: Figs. 1 to 5 and its tables.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.data.mnist_stl10 import DIGIT, LEFTS, TOPS
from unbraid.data.views import Views
from unbraid.report.charts import COLOURS, DARK_COLOURS, ink_of, panels_of
from unbraid.report.figures import Figure, Row
from unbraid.runs import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Chart

SCORE = "disentanglement_gap"


def view_pairs(dataset: Dataset, *, count: int = 8, seed: int = 0, views: Views | None = None) -> Figure:
    """Pairs of views, one above the other, with what both share and what differs (Figs. 2 to 4)."""
    views = views or Views(crop=1.0, flip=0.0, colour=0.0)
    views.check(dataset)
    batch = views(dataset.to("cpu"), count, Generator().manual_seed(seed), torch.tensor(0))
    caption = "Columns are pairs of views."
    if batch.factors is not None and batch.factors2 is not None and dataset.space is not None:
        same = (batch.factors == batch.factors2).all(0).tolist()
        names = [name for name in dataset.space.names if name != dataset.instance]
        shared = [name for name, kept in zip(names, same, strict=False) if kept]
        if shared and len(shared) < len(names):
            other = [name for name in names if name not in shared]
            caption += f" They share {' and '.join(shared)}, and differ in {' and '.join(other)}."
    return Figure((Row("view 0", batch.x1), Row("view 1", batch.x2)), caption=caption)


def place_chart(side: int = 64, shown: Sequence[int] = (3, 5), *, dark: bool = False) -> "Chart":
    """The eight places at which a digit is centred, and where it lies at two of them (Fig. 1)."""
    from matplotlib.patches import Rectangle

    figure, (axes,) = panels_of(1, dark, width=3.0, height=3.0)
    corners = [(left, top) for top in TOPS for left in LEFTS]
    for number, (left, top) in enumerate(corners, start=1):
        centre = left + DIGIT / 2, top + DIGIT / 2
        axes.plot(*centre, "o", color=ink_of(dark), markersize=4)
        axes.annotate(str(number), centre, (3, 3), textcoords="offset points", color=ink_of(dark), fontsize=9)
        if number in shown:
            colour = (DARK_COLOURS if dark else COLOURS)[2 * shown.index(number)]
            axes.add_patch(Rectangle((left, top), DIGIT, DIGIT, fill=False, edgecolor=colour, linewidth=1.6))
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
    """Terms of one training over its steps, each on an axis of its own (Fig. 5)."""
    present = [term for term in terms if any(term in line for line in history)]
    if not present:
        raise ValueError(f"The history holds none of {', '.join(terms)}: choose a run with such a term.")
    figure, panels = panels_of(len(present), dark, width=4.2, height=2.7)
    for axes, term, colour in zip(panels, present, DARK_COLOURS if dark else COLOURS, strict=False):
        lines = [line for line in history if term in line]
        axes.plot(
            [line["step"] for line in lines], [line[term] for line in lines], color=colour, linewidth=1.6
        )
        axes.set_title(term, loc="left", fontsize=10, color=ink_of(dark))
        axes.set_xlabel("step")
        axes.set_ylabel("nats per image")
    return figure


def accuracy_chart(tables: Mapping[str, Mapping[str, float]], *, dark: bool = False) -> "Chart":
    """What each part of a code tells of each factor, in per cent: one heat map for each entry.

    Args:
        tables: By title, accuracies by part and factor: `z.digit`, `z0.digit`, …, `chance.digit`.
        dark: For a dark ground.
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
            colour = "white" if value > 0.55 else "#22262b"
            axes.text(column, row, f"{100 * value:.1f}", ha="center", va="center", fontsize=8.5, color=colour)
        axes.set_xticks(range(len(names)), names)
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.set_title(title, loc="left", fontsize=9, color=ink_of(dark))
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
    """A t-SNE map of the code, once for each factor and coloured by it."""
    from matplotlib import colormaps
    from sklearn.manifold import TSNE

    places = TSNE(init="pca", random_state=seed).fit_transform(codes)
    figure, panels = panels_of(len(names), dark, width=2.7, height=2.7)
    for axes, name, column in zip(panels, names, factors.T, strict=True):
        colours = colormaps["tab10"](column % 10)
        axes.scatter(places[:, 0], places[:, 1], s=3, c=colours, linewidths=0)
        axes.set_title(name, loc="left", fontsize=10, color=ink_of(dark))
        axes.set(xticks=(), yticks=())
        axes.grid(visible=False)
    return figure


def accuracies(run: Run, strand: str = "z") -> dict[str, float]:
    """What probes read off the whole of a strand and off each part, as the run was last scored, and below that what
    chance gives; none if it was not."""
    prefix = f"{strand}:{SCORE}."
    scores = {score["metric"]: score["value"] for score in run.scores()}
    found = {name.removeprefix(prefix): value for name, value in scores.items() if name.startswith(prefix)}
    table = {
        name.removeprefix("accuracy.").replace("whole.", f"{strand}."): value
        for name, value in found.items()
        if name.startswith("accuracy.")
    }
    return table | {name: value for name, value in found.items() if name.startswith("chance.")}


def _grid(table: Mapping[str, float]) -> tuple[list[str], list[str], Float[np.ndarray, "parts factors"]]:
    keys = [name.partition(".") for name in table]
    parts = list(dict.fromkeys(part for part, _, _ in keys))
    factors = list(dict.fromkeys(factor for _, _, factor in keys))
    return parts, factors, np.array([[table[f"{part}.{factor}"] for factor in factors] for part in parts])
