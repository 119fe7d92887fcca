"""Figures of interventions: quantile traversals, nearest neighbors by strand, features replaced and restored.

Unsupervised Disentanglement Learning by Intervention, 2021: Figs. 4b and 5, Prop. 1.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Generator, Tensor

from unbraid.data import Dataset
from unbraid.methods import feature_strand_names
from unbraid.report.figures import MAX_ROWS, Figure, Row, activity, examples
from unbraid.runs import Model
from unbraid.types import Codes


def quantile_traversals(
    model: Model,
    dataset: Dataset,
    *,
    dims: Sequence[int] | None = None,
    notes: Sequence[str] | None = None,
    highlight: Collection[int] = (),
    between: tuple[float, float] = (0.1, 0.9),
    steps: int = 9,
    image: int = 0,
    seed: int = 0,
) -> Figure:
    """One image decoded with each dimension moved between two quantiles of its values (Fig. 4b).

    Args:
        model: A trained model with a decoder.
        dataset: Source of the image and of the quantiles.
        dims: Dimensions to traverse. Default: the active ones, most active first.
        notes: Note per dimension, such as the factor for which it matters.
        highlight: Dimensions shown in red.
        between: Lower and upper quantile.
        steps: Number of images per row.
        image: Index of the start image among the sampled images.
        seed: Random seed for sampling images.
    """
    low, high = between
    if not 0 <= low < high <= 1:
        raise ValueError(f"Quantiles must satisfy 0 <= low < high <= 1; got {low} and {high}.")
    x = examples(dataset, 512, seed=seed)
    codes = model.encode(x)
    dims = activity(model, x).active[:MAX_ROWS] if dims is None else list(dims)
    rows = []
    for index, dim in enumerate(dims):
        ends = torch.quantile(codes[:, dim], torch.tensor([low, high]))
        values = torch.lerp(ends[0], ends[1], torch.linspace(0, 1, steps))
        images = model.traverse(x[image : image + 1], dim, values)[:, 0]
        rows.append(Row(f"dimension {dim}", images, "" if notes is None else notes[index], dim in highlight))
    labels = [f"{100 * (low + (high - low) * t):.0f} %" for t in np.linspace(0, 1, steps)]
    caption = (
        f"Each row varies one dimension from its {100 * low:.0f} % to its {100 * high:.0f} % quantile; all other "
        "dimensions are fixed."
        + (" Red: dimensions of correlated factors." if set(highlight) & set(dims) else "")
    )
    return Figure(
        tuple(rows),
        tuple(label if index in (0, steps - 1) else "" for index, label in enumerate(labels)),
        caption,
    )


def annotate_rows(
    importances: Mapping[str, Float[np.ndarray, " d"]], dims: Sequence[int], highlight: Sequence[str] = ()
) -> dict[str, Any]:
    """Arguments `dims`, `notes` and `highlight` of `quantile_traversals`: the most important dimension of each factor.

    Args:
        importances: Importance of each row (dimension or strand) for each factor. Empty: no arguments.
        dims: Dimension of each row; for a strand, the dimension that stands for the strand.
        highlight: Factors whose dimensions come first and are red.
    """
    if not importances:
        return {}
    best = {factor: dims[int(shares.argmax())] for factor, shares in importances.items()}
    notes: dict[int, list[str]] = {}
    for factor in sorted(importances, key=lambda name: name not in highlight):
        notes.setdefault(best[factor], []).append(f"{factor}, correlated" if factor in highlight else factor)
    red = {best[factor] for factor in importances if factor in highlight}
    return {
        "dims": list(notes),
        "notes": [" and ".join(factors) for factors in notes.values()],
        "highlight": [dim for dim in notes if dim in red],
    }


def neighbors(
    model: Model,
    dataset: Dataset,
    *,
    strands: Sequence[str] | None = None,
    queries: int = 4,
    nearest: int = 3,
    count: int = 2000,
    seed: int = 0,
) -> Figure:
    """Images, each with its nearest neighbors in every strand (Fig. 5).

    Args:
        model: A trained model.
        dataset: Source of the images.
        strands: Strands to compare. Default: the feature strands of the method.
        queries: Number of query images.
        nearest: Number of neighbors per query and strand.
        count: Number of images that are searched.
        seed: Random seed for sampling images.
    """
    names = list(feature_strand_names(model.method) if strands is None else strands)
    if not names:
        raise ValueError(f"{model.method.name()} has no feature strands. Pass strands=….")
    tables = dataset.to("cpu")
    rows = tables.sample_indices(count, Generator().manual_seed(seed)).unique()
    if len(rows) < queries + nearest:
        raise ValueError(f"Neighbors need at least {queries + nearest} different images; got {len(rows)}.")
    rows = rows[torch.randperm(len(rows), generator=Generator().manual_seed(seed))]
    x = tables.observe(rows)
    codes = model.encode(x)
    neighbors_of = {name: _nearest(model.strands.take(codes, name), queries, nearest) for name in names}
    sheet = [
        Row(
            f"query {index + 1}",
            torch.cat([x[index : index + 1], *(x[neighbors_of[name][index]] for name in names)]),
        )
        for index in range(queries)
    ]
    columns = ["", *(name if index == 0 else "" for name in names for index in range(nearest))]
    caption = (
        "Left: query image. Right: its nearest neighbors in each strand, which should share only what the strand "
        "encodes."
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
    """Images with one feature taken from another image, and with the feature set back after re-encoding (Prop. 1).

    Args:
        model: A trained model with a decoder.
        dataset: Source of the images.
        strands: Features to set. Default: the feature strands of the method, otherwise its three most active
            dimensions.
        count: Number of images.
        seed: Random seed for sampling images.
    """
    x = examples(dataset, max(2 * count, 512), seed=seed)
    first, other = x[:count], x[count : 2 * count]
    codes, others = model.encode(first), model.encode(other)
    if strands is None:
        strands = list(feature_strand_names(model.method)) or activity(model, x).active[:3]
    rows = [Row("image", first), Row("other", other), Row("decoded", model.decode(codes))]
    for strand in strands:
        name = f"dimension {strand}" if isinstance(strand, int) else strand
        changed = model.decode(model.strands.swap(codes, others, strand)[0])
        back = model.strands.swap(model.encode(changed), codes, strand)[0]
        rows += [Row(f"{name} of other", changed), Row("set back", model.decode(back), name)]
    caption = (
        "One feature of each image is replaced by that of the other image, decoded, re-encoded and set back, which "
        "should restore the first decoded image."
    )
    return Figure(tuple(rows), caption=caption)


def _nearest(codes: Codes, queries: int, nearest: int) -> list[Tensor]:
    """Indices of the nearest rows of each of the first `queries` rows, without the row itself."""
    distances = torch.cdist(codes[:queries], codes)
    distances[torch.arange(queries), torch.arange(queries)] = torch.inf
    return list(distances.topk(nearest, largest=False).indices)
