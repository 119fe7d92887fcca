"""Figures of Unsupervised Disentanglement Learning by Intervention, 2021: rank correlations of metrics (Fig. 3),
importance of codes and traversals between quantiles (Fig. 4), neighbours by strand (Fig. 5), and the joint
distribution of two factors (Fig. 6)."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.model import Model
from unbraid.report.figures import ROWS, Figure, Row, activity, examples
from unbraid.report.sheets import RED
from unbraid.types import Codes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Chart


def joint_chart(dataset: Dataset, first: str, second: str, *, dark: bool = False) -> "Chart":
    """How often each pair of values of two factors is drawn, the most frequent as 1 (Fig. 6)."""
    table = joint(dataset, first, second)
    across = min(6.0, 1.6 + 0.2 * table.shape[1])
    figure, axes = _panel(dark, across, min(6.0, 1.2 + 0.2 * table.shape[0]))
    shown = axes.imshow(table, cmap="viridis", vmin=0, vmax=1, origin="lower", aspect="auto")
    axes.set_xlabel(second)
    axes.set_ylabel(first)
    _bar(figure, shown, axes, dark, (0.0, 0.5, 1.0))
    return figure


def joint(dataset: Dataset, first: str, second: str) -> Float[np.ndarray, "v w"]:
    """The table behind it: the exact distribution, or that of a fixed set of observations."""
    tables = dataset.to("cpu", observations=False)
    if tables.space is None:
        raise ValueError(f"{dataset.name} has no known factors whose distribution could be shown.")
    columns = [tables.space.column(name) for name in (first, second)]
    rows = tables.rows()
    values = tables.factors(rows)
    assert values is not None
    weight = tables.space.weight(rows if tables.combinations is None else tables.combinations[rows])
    table = torch.zeros([tables.space.sizes[column] for column in columns], dtype=torch.float64)
    table.index_put_((values[:, columns[0]], values[:, columns[1]]), weight.double(), accumulate=True)
    return (table / table.max()).numpy()


def importance_chart(
    importances: Float[np.ndarray, "d k"],
    factors: Sequence[str],
    *,
    codes: Sequence[str] | None = None,
    highlight: Sequence[str] = (),
    dark: bool = False,
) -> "Chart":
    """How much each code, or strand, matters for each factor, as DCI sees it; those to look at in red (Fig. 4a)."""
    from matplotlib.patches import Rectangle

    names = [str(code) for code in range(len(importances))] if codes is None else list(codes)
    figure, axes = _panel(dark, 1.6 + 0.62 * len(factors), 1.0 + 0.26 * len(names))
    shown = axes.imshow(
        importances, cmap="Greys", vmin=0, vmax=max(float(importances.max()), 1e-9), aspect="auto"
    )
    axes.set_xticks(range(len(factors)), factors, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylabel("code" if all(name.isdecimal() for name in names) else "strand")
    for column, (name, label) in enumerate(zip(factors, axes.get_xticklabels(), strict=True)):
        if name in highlight:
            best = int(importances[:, column].argmax())
            axes.add_patch(
                Rectangle((column - 0.5, best - 0.5), 1, 1, fill=False, edgecolor=RED, linewidth=2)
            )
            label.set_color(RED)
    _bar(figure, shown, axes, dark, None)
    return figure


def quantile_traversals(
    model: Model,
    dataset: Dataset,
    *,
    codes: Sequence[int] | None = None,
    notes: Sequence[str] | None = None,
    marked: Collection[int] = (),
    between: tuple[float, float] = (0.1, 0.9),
    steps: int = 9,
    image: int = 0,
    seed: int = 0,
) -> Figure:
    """One image with each code in turn moved from a low to a high quantile of its values (Fig. 4b).

    Args:
        model: A trained model with a decoder.
        dataset: Where the image and the quantiles come from.
        codes: The codes to move; by default those that do something, busiest first.
        notes: What to say beside each of them, such as the factor that it matters for.
        marked: Those of the codes to look at first, in red.
        between: The quantiles.
        steps: How many images a row has.
        image: Which of the images drawn with the seed to start from.
        seed: Of the images.
    """
    low, high = between
    if not 0 <= low < high <= 1:
        raise ValueError(f"Quantiles run from 0 to 1, the lower one first; got {low} and {high}.")
    x = examples(dataset, 512, seed=seed)
    every = model.encode(x)
    chosen = activity(model, x).active[:ROWS] if codes is None else list(codes)
    rows = []
    for place, code in enumerate(chosen):
        ends = torch.quantile(every[:, code], torch.tensor([low, high]))
        values = torch.lerp(ends[0], ends[1], torch.linspace(0, 1, steps))
        swept = model.traverse(x[image : image + 1], code, values)
        rows.append(Row(f"code {code}", swept[:, 0], "" if notes is None else notes[place], code in marked))
    places = [f"{100 * (low + (high - low) * t):.0f} %" for t in np.linspace(0, 1, steps)]
    caption = (
        "Each row moves one code through its values, from a low quantile to a high one, and holds the others."
        + (" Codes of correlated factors are in red." if set(marked) & set(chosen) else "")
    )
    return Figure(
        tuple(rows),
        tuple(f"{place}" if t in (0, steps - 1) else "" for t, place in enumerate(places)),
        caption,
    )


def noted(
    importances: Mapping[str, Float[np.ndarray, " d"]], codes: Sequence[int], highlight: Sequence[str] = ()
) -> dict[str, list]:
    """Which codes to move and what to say beside them: the most important one of each factor, those to look at first.

    What `quantile_traversals` takes as `codes`, `notes` and `marked`; nothing where no importance is known. `codes`
    are those that the importances are of, or one for each strand that they are of.
    """
    if not importances:
        return {}
    best = {factor: codes[int(found.argmax())] for factor, found in importances.items()}
    notes: dict[int, list[str]] = {}
    for factor in sorted(importances, key=lambda name: name not in highlight):
        notes.setdefault(best[factor], []).append(f"{factor}, correlated" if factor in highlight else factor)
    marked = {best[factor] for factor in importances if factor in highlight}
    return {
        "codes": list(notes),
        "notes": [" and ".join(said) for said in notes.values()],
        "marked": [code for code in notes if code in marked],
    }


def neighbours(
    model: Model,
    dataset: Dataset,
    *,
    strands: Sequence[str] | None = None,
    queries: int = 4,
    nearest: int = 3,
    count: int = 2000,
    seed: int = 0,
) -> Figure:
    """Images, and for each strand the images whose part of the code lies nearest (Fig. 5).

    Args:
        model: A trained model.
        dataset: Where the images come from.
        strands: The strands to compare; by default those that stand for a feature each.
        queries: How many images to find neighbours of.
        nearest: How many neighbours of each.
        count: How many images to look among.
        seed: Of the images.
    """
    names = list(getattr(model.method, "blocks", ()) if strands is None else strands)
    if not names:
        raise ValueError(f"{model.method.name()} has no strands to compare by: name some.")
    tables = dataset.to("cpu")
    rows = tables.draw(count, Generator().manual_seed(seed)).unique()
    if len(rows) < queries + nearest:
        raise ValueError(
            f"Neighbours are looked for among {queries + nearest} images at least; got {len(rows)}."
        )
    rows = rows[torch.randperm(len(rows), generator=Generator().manual_seed(seed))]
    x = tables.observe(rows)
    codes = model.encode(x)
    found = {name: _nearest(model.strands.take(codes, name), queries, nearest) for name in names}
    sheet = [
        Row(
            f"query {place + 1}",
            torch.cat([x[place : place + 1], *(x[found[name][place]] for name in names)]),
        )
        for place in range(queries)
    ]
    columns = ["", *(name if place == 0 else "" for name in names for place in range(nearest))]
    caption = (
        "On the left an image; then for each strand those that lie nearest to it there. Neighbours by one strand "
        "should share what it holds and differ in the rest."
    )
    return Figure(tuple(sheet), tuple(columns), caption)


def interventions(
    model: Model,
    dataset: Dataset,
    *,
    strands: Sequence[str | int] | None = None,
    count: int = 8,
    seed: int = 0,
) -> Figure:
    """Images with one feature taken from another image, and with it set back after decoding and encoding (Prop. 1).

    Args:
        model: A trained model with a decoder.
        dataset: Where the images come from.
        strands: The features to set; by default the method's own, or its busiest codes.
        count: How many images.
        seed: Of the images.
    """
    x = examples(dataset, max(2 * count, 512), seed=seed)
    first, other = x[:count], x[count : 2 * count]
    codes, others = model.encode(first), model.encode(other)
    if strands is None:
        strands = list(getattr(model.method, "blocks", ())) or activity(model, x).active[:3]
    rows = [Row("image", first), Row("other", other), Row("decoded", model.decode(codes))]
    for strand in strands:
        name = f"code {strand}" if isinstance(strand, int) else strand
        changed = model.decode(model.strands.swap(codes, others, strand)[0])
        back = model.strands.swap(model.encode(changed), codes, strand)[0]
        rows += [Row(f"{name} of other", changed), Row("set back", model.decode(back), name)]
    caption = (
        "One feature of each image is taken from the other one, decoded, encoded again and set back, which should give "
        "what was decoded at first."
    )
    return Figure(tuple(rows), caption=caption)


def rank_chart(
    names: Sequence[str], coefficients: Float[np.ndarray, "m m"], *, dark: bool = False
) -> "Chart":
    """Spearman's coefficients between metrics over many models (Fig. 3)."""
    side, label = 0.62 * len(names), 0.075 * max(map(len, names))
    figure, axes = _panel(dark, side + label + 1.1, side + 0.6 * label + 0.5)
    shown = axes.imshow(coefficients, cmap="RdBu_r", vmin=-1, vmax=1)
    for (row, column), value in np.ndenumerate(coefficients):
        colour = "white" if abs(value) > 0.6 else "#22262b"
        axes.text(
            column,
            row,
            f"{value:.2f}".replace("-", "−"),
            ha="center",
            va="center",
            fontsize=8.5,
            color=colour,
        )
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right")
    axes.set_yticks(range(len(names)), names)
    _bar(figure, shown, axes, dark, (-1.0, 0.0, 1.0))
    return figure


def _nearest(codes: Codes, queries: int, nearest: int) -> list[Tensor]:
    """For each of the first rows the numbers of those that lie nearest, itself left out."""
    gaps = torch.cdist(codes[:queries], codes)
    gaps[torch.arange(queries), torch.arange(queries)] = torch.inf
    return list(gaps.topk(nearest, largest=False).indices)


def _panel(dark: bool, width: float, height: float) -> "tuple[Chart, Axes]":
    from matplotlib.figure import Figure as Chart

    ink = "#c9ced6" if dark else "#4a4f57"
    figure = Chart(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.tick_params(colors=ink, labelsize=8.5, length=0)
    axes.xaxis.label.set(color=ink, fontsize=9)
    axes.yaxis.label.set(color=ink, fontsize=9)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure, axes


def _bar(figure: "Chart", shown: object, axes: "Axes", dark: bool, ticks: Sequence[float] | None) -> None:
    bar = figure.colorbar(shown, ax=axes, fraction=0.05, pad=0.03, ticks=ticks)  # type: ignore[arg-type]
    bar.ax.tick_params(colors="#c9ced6" if dark else "#4a4f57", labelsize=8, length=0)
    bar.outline.set_visible(False)  # type: ignore[operator]
