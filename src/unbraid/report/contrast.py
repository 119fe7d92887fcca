"""Figures of contrast methods: target and background through the strands `common` and `salient`.

Towards Principled Objectives for Contrastive Disentanglement, 2020, Figs. 3 to 5, 7, 8 and 10.
"""

from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from unbraid.data import Dataset
from unbraid.methods import HasBackgroundCodes
from unbraid.nn import background_batch_stats
from unbraid.report.charts import COLORS, DARK_COLORS, chart
from unbraid.report.figures import Figure, Row, examples
from unbraid.runs import Model
from unbraid.types import Observations

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Chart

GRID = 8  # rows and columns of an interpolation
CANDIDATES = 100  # observations searched for two different classes


def has_contrast(model: Model, dataset: Dataset) -> bool:
    """Whether the dataset has a background and the model the strands `common` and `salient`."""
    return dataset.background is not None and {"common", "salient"} <= set(model.strands)


def target_and_background(dataset: Dataset, *, count: int = 10, seed: int = 0) -> Figure:
    """Samples of the target and of the background (Fig. 3)."""
    background = _background(dataset)
    rows = (
        Row("target", examples(dataset, count, seed=seed)),
        Row("background", examples(background, count, seed=seed)),
    )
    return Figure(
        rows,
        caption="Top: target. Bottom: background, which lacks what is salient. The images are not paired.",
    )


def strands_apart(model: Model, dataset: Dataset, *, count: int = 10, seed: int = 0) -> Figure:
    """Target images decoded from the full code, from the common strand and from the salient strand (Fig. 5)."""
    x = examples(dataset, count, seed=seed)
    codes = model.encode(x)
    rows = (
        Row("x", x),
        Row("(z, s)", model.decode(codes)),
        Row("(z, 0)", model.decode(model.strands.zero(codes, "salient"))),
        Row("(0, s)", model.decode(model.strands.zero(codes, "common"))),
    )
    return Figure(
        rows,
        caption="Target images x, decoded from both strands (z, s), the common one (z, 0) and the salient one (0, s).",
    )


def both_reconstructed(model: Model, dataset: Dataset, *, count: int = 10, seed: int = 0) -> Figure:
    """Background and target images and their reconstructions (Fig. 7)."""
    y, x = examples(_background(dataset), count, seed=seed), examples(dataset, count, seed=seed)
    with background_batch_stats(model.method):
        codes = model.encode(y)
        if isinstance(model.method, HasBackgroundCodes):
            with torch.no_grad():
                codes = model.method.background_codes(codes.to(model.method.step.device)).cpu()
        decoded = model.decode(codes)
    rows = (
        Row("background", y),
        Row("decoded", decoded),
        Row("target", x),
        Row("decoded", model.reconstruct(x)),
    )
    return Figure(
        rows,
        caption="The background is decoded with its salient strand at zero, or at the learned reference.",
    )


def salient_grid(model: Model, dataset: Dataset, *, size: int = GRID, seed: int = 0) -> Figure:
    """Interpolation of the salient strand between two target images; the common strand is fixed (Figs. 8, 10).

    The images belong to different classes if classes are known. Rows interpolate the first half of the salient
    dimensions, columns the second half.
    """
    start, end = model.encode(_two_classes(dataset, seed=seed))
    salient = model.strands["salient"]
    first, second = salient[: len(salient) // 2], salient[len(salient) // 2 :]
    along = torch.linspace(0, 1, size)
    rows = []
    for index, down in enumerate(along):
        codes = start.expand(size, -1).clone()
        codes[:, list(first)] = torch.lerp(start[list(first)], end[list(first)], float(down))
        codes[:, list(second)] = torch.lerp(start[list(second)], end[list(second)], along[:, None])
        label = "z₁, s₁" if index == 0 else "z₁, s₂ →" if index == size - 1 else ""
        rows.append(Row(label, model.decode(codes)))
    caption = (
        "The common strand is that of the first image. The salient strand goes from the first image (top left) to the "
        "second (bottom right)."
    )
    return Figure(tuple(rows), caption=caption)


def salient_map(
    model: Model,
    dataset: Dataset,
    *,
    strand: str = "salient",
    count: int = 1500,
    seed: int = 0,
    dark: bool = False,
) -> "Chart":
    """t-SNE of the salient strand of target and background, colored by class (Fig. 4).

    The chart shows at most `count` different observations of the target and a third as many of the background.
    """
    from sklearn.manifold import TSNE

    tables = dataset.to("cpu")
    background = _background(tables)
    generator = torch.Generator().manual_seed(seed)
    rows = _different(tables, count, generator)
    count = len(rows)
    labels, _ = tables.labels_and_nuisances(tables.factors(rows))
    y = background.observe(_different(background, count // 3, generator))
    with background_batch_stats(model.method):
        of_background = model.encode(y)
    whole = torch.cat([model.encode(tables.observe(rows)), of_background])
    codes = model.strands.take(whole, strand)
    points = TSNE(random_state=seed, init="pca" if codes.shape[1] > 1 else "random").fit_transform(
        codes.numpy()
    )
    figure, axes = chart(dark, size=(4.2, 3.6))
    palette, groups = (
        (DARK_COLORS if dark else COLORS),
        np.zeros(count, int) if labels is None else labels.numpy(),
    )
    names = dataset.value_names.get(dataset.label or "", ())
    for group in np.unique(groups):
        members = points[:count][groups == group]
        name = names[group] if len(names) > group else str(group) if labels is not None else "target"
        alpha = 0.55 if group >= len(palette) else 1.0  # colors repeat, lighter
        axes.scatter(
            *members.T, s=5, alpha=alpha, linewidths=0, color=palette[group % len(palette)], label=name
        )
    axes.scatter(*points[count:].T, s=5, linewidths=0, color="#8a8f98", label="background")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    axes.legend(
        frameon=False,
        fontsize=7,
        markerscale=2,
        labelcolor=axes.xaxis.label.get_color(),
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
    )
    axes.set_title(f"t-SNE of strand {strand}", loc="left", fontsize=10, color=axes.xaxis.label.get_color())
    return figure


def _two_classes(dataset: Dataset, *, seed: int) -> Observations:
    """Two observations, of different classes if any of the candidates differ."""
    tables = dataset.to("cpu")
    rows = _different(tables, CANDIDATES, torch.Generator().manual_seed(seed))
    labels, _ = tables.labels_and_nuisances(tables.factors(rows))
    other = 0 if labels is None else int((labels != labels[0]).int().argmax())
    return tables.observe(rows[[0, max(1, other)]])


def _different(dataset: Dataset, count: int, generator: torch.Generator) -> Int[Tensor, " b"]:
    """At most `count` row indices drawn without replacement."""
    rows = dataset.indices()
    return rows[torch.randperm(len(rows), generator=generator)[:count]]


def _background(dataset: Dataset) -> Dataset:
    if dataset.background is None:
        raise ValueError(
            f"{dataset.name} has no background, which this figure needs. Choose another dataset."
        )
    return dataset.background
