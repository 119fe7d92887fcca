"""What target and background look like through a model with the strands common and salient.

Towards Principled Objectives for Contrastive Disentanglement, 2020, Figs. 3 to 5, 7, 8 and 10.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from unbraid.data.dataset import Dataset
from unbraid.model import Model
from unbraid.report.charts import COLOURS, DARK_COLOURS, chart
from unbraid.report.figures import Figure, Row, examples
from unbraid.types import Observations

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Chart

GRID = 8  # images each way of an interpolation
FEW = 100  # among which two classes are looked for


def contrasts(model: Model, dataset: Dataset) -> bool:
    """Whether there is anything for these figures to show."""
    return dataset.background is not None and {"common", "salient"} <= set(model.strands)


def parts(dataset: Dataset, *, count: int = 10, seed: int = 0) -> Figure:
    """Samples of the target above samples of the background (Fig. 3)."""
    background = _background(dataset)
    rows = (
        Row("target", examples(dataset, count, seed=seed)),
        Row("background", examples(background, count, seed=seed)),
    )
    return Figure(
        rows, caption="The target has what the background lacks; which image goes with which is not known."
    )


def strands_apart(model: Model, dataset: Dataset, *, count: int = 10, seed: int = 0) -> Figure:
    """Target images, decoded whole, without their salient codes, and from those alone (Fig. 5)."""
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
        caption="Target images x, decoded from common and salient codes, from the common and from the salient alone.",
    )


def both_reconstructed(model: Model, dataset: Dataset, *, count: int = 10, seed: int = 0) -> Figure:
    """Background and target images above what the model keeps of them (Fig. 7)."""
    y, x = examples(_background(dataset), count, seed=seed), examples(dataset, count, seed=seed)
    reference: Callable[..., torch.Tensor] = getattr(model.method, "reference", lambda codes: codes)
    with torch.no_grad():
        plain = reference(model.encode(y).to(model.method.step.device)).cpu()
    rows = (
        Row("background", y),
        Row("decoded", model.decode(plain)),
        Row("target", x),
        Row("decoded", model.reconstruct(x)),
    )
    return Figure(
        rows, caption="The background is decoded with its salient codes at zero, or at the reference."
    )


def salient_grid(model: Model, dataset: Dataset, *, size: int = GRID, seed: int = 0) -> Figure:
    """From one target image to the salient code of another, its common code held, in two dimensions (Figs. 8, 10).

    The images are of different classes, where classes are known. Down the grid the first half of the salient codes
    goes from the first image's to the second's, and across it the other half; so the diagonal goes from the one to the
    other.
    """
    start, end = model.encode(_two_classes(dataset, seed=seed))
    salient = model.strands["salient"]
    first, second = salient[: len(salient) // 2], salient[len(salient) // 2 :]
    along = torch.linspace(0, 1, size)
    rows = []
    for place, down in enumerate(along):
        codes = start.expand(size, -1).clone()
        codes[:, list(first)] = torch.lerp(start[list(first)], end[list(first)], float(down))
        codes[:, list(second)] = torch.lerp(start[list(second)], end[list(second)], along[:, None])
        label = "z₁, s₁" if place == 0 else "z₁, s₂ →" if place == size - 1 else ""
        rows.append(Row(label, model.decode(codes)))
    caption = "The common code stays the first image's; the salient one goes over to the second's, corner to corner."
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
    """The salient codes of target and background in one map by t-SNE, classes in colours (Fig. 4).

    It shows `count` different observations of the target, and a third as many of the background, or all there are.
    """
    from sklearn.manifold import TSNE

    tables = dataset.to("cpu")
    background = _background(tables)
    generator = torch.Generator().manual_seed(seed)
    rows = _different(tables, count, generator)
    count = len(rows)
    labels, _ = tables.roles(tables.factors(rows))
    y = background.observe(_different(background, count // 3, generator))
    codes = torch.cat([model.strands.take(model.encode(part), strand) for part in (tables.observe(rows), y)])
    place = TSNE(random_state=seed, init="pca" if codes.shape[1] > 1 else "random").fit_transform(
        codes.numpy()
    )
    figure, axes = chart(dark, size=(4.2, 3.6))
    palette, groups = (
        (DARK_COLOURS if dark else COLOURS),
        np.zeros(count, int) if labels is None else labels.numpy(),
    )
    names = dataset.value_names.get(dataset.label or "", ())
    for group in np.unique(groups):
        here = place[:count][groups == group]
        name = names[group] if len(names) > group else str(group) if labels is not None else "target"
        light = 0.55 if group >= len(palette) else 1.0  # more classes than colours: lighter ones
        axes.scatter(*here.T, s=5, alpha=light, linewidths=0, color=palette[group % len(palette)], label=name)
    axes.scatter(*place[count:].T, s=5, linewidths=0, color="#8a8f98", label="background")
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
    axes.set_title(f"{strand} codes, t-SNE", loc="left", fontsize=10, color=axes.xaxis.label.get_color())
    return figure


def _two_classes(dataset: Dataset, *, seed: int) -> Observations:
    """Two observations, of different classes where some of the few looked at differ."""
    tables = dataset.to("cpu")
    rows = _different(tables, FEW, torch.Generator().manual_seed(seed))
    labels, _ = tables.roles(tables.factors(rows))
    other = 0 if labels is None else int((labels != labels[0]).int().argmax())
    return tables.observe(rows[[0, max(1, other)]])


def _different(dataset: Dataset, count: int, generator: torch.Generator) -> Int[Tensor, " b"]:
    """Rows drawn without replacement, no more than there are."""
    rows = dataset.rows()
    return rows[torch.randperm(len(rows), generator=generator)[:count]]


def _background(dataset: Dataset) -> Dataset:
    if dataset.background is None:
        raise ValueError(f"{dataset.name} has no background: this figure shows one beside its target.")
    return dataset.background


CONTRAST_FIGURES: dict[str, tuple[str, Callable[..., Figure]]] = {
    "samples": ("Target and background", lambda model, dataset: parts(dataset)),
    "strands-apart": ("Common and salient", strands_apart),
    "both-reconstructed": ("Background and target, reconstructed", both_reconstructed),
    "salient-grid": ("Salient codes, from one image to another", salient_grid),
}
