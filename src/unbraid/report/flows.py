"""Figures of flows: augmented samples and traversals of class means.

Self-supervised Disentangled Representation Learning, 2021: Figs. 2, 3 and 5 to 10.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Generator

from unbraid.data import Dataset, SetDraw
from unbraid.methods import FlowMethod
from unbraid.report.figures import TRAVERSAL_VALUES, Figure, Row
from unbraid.runs import Model
from unbraid.types import Codes, Images

SAMPLE = 4096  # observations for class means
ROWS = 20  # dimensions of an overview, at most


def augmented_samples(
    dataset: Dataset, *, count: int = 5, seed: int = 0, sets: SetDraw | None = None
) -> Figure:
    """Images and their augmentations (Fig. 3)."""
    sets = sets or SetDraw(fresh_each_step=True)
    sets.check(dataset)
    batch = sets(dataset.to("cpu"), count, Generator().manual_seed(seed), torch.tensor(0))
    names = {"translate": "translated", "rotate": "rotated", "scale": "scaled"}
    singles = [names[name] for name in sets.transforms]
    labels = ["original", *singles, *["combined"] * batch.x.shape[1]]
    rows = [Row(labels[index], batch.x[:, index]) for index in range(batch.x.shape[1])]
    return Figure(tuple(rows), caption="Top: images. Below: their augmentations.")


class ClassMeans(NamedTuple):
    """Mean code and name of each class."""

    names: tuple[str, ...]
    codes: Codes


def class_means(model: Model, dataset: Dataset, *, seed: int = 0) -> ClassMeans:
    """Class means over a sample; the mean of all observations if the dataset has no classes."""
    tables = dataset.to("cpu")
    rows = tables.sample_indices(SAMPLE, Generator().manual_seed(seed))
    codes, (labels, _) = model.encode(tables.observe(rows)), tables.labels_and_nuisances(tables.factors(rows))
    if labels is None or dataset.label is None:
        return ClassMeans(("",), codes.mean(0, keepdim=True))
    classes = labels.unique().tolist()
    called = dataset.value_names.get(dataset.label)
    names = tuple(str(value) if called is None else str(called[value]) for value in classes)
    return ClassMeans(names, torch.stack([codes[labels == value].mean(0) for value in classes]))


def variable(
    model: Model, means: ClassMeans, dim: int, *, values: Sequence[float] = TRAVERSAL_VALUES
) -> Figure:
    """Traversal of one dimension from the mean of each class, and where the image changes (Figs. 5 to 10).

    Args:
        model: A trained flow.
        means: Mean codes of the classes.
        dim: Dimension to traverse.
        values: Offsets from the class mean, in standard deviations of the dimension over the data.
    """
    decoded, area = _traverse(model, means.codes, dim, values)
    decoded, heat = _in_color(decoded), heat_map(area)
    parts = [torch.cat([decoded[:, index], heat[index, None]]) for index in range(len(means.names))]
    rows = [Row(name, images) for name, images in zip(means.names, parts, strict=True)]
    columns = (*(f"{value:g}".replace("-", "−") for value in values), "area")
    caption = (
        "Class means with one dimension shifted by multiples of its std. Last column: heat map of |x(1) − x(−1)|, from "
        "black over red to white."
    )
    return Figure(tuple(rows), columns, caption)


def variables(
    model: Model, dataset: Dataset, *, dims: Sequence[int] | None = None, classes: int = 5, seed: int = 0
) -> Figure:
    """Overview (Fig. 2): one row per dimension with class means at −2, 0 and 2 standard deviations, and the change.

    Args:
        model: A trained flow.
        dataset: Source of the classes.
        dims: Dimensions to show. Default: the informative ones, largest standard deviation first, at most 20.
        classes: Number of classes to show.
        seed: Random seed for sampling observations.
    """
    names, means = class_means(model, dataset, seed=seed)
    shown = torch.linspace(0, len(names) - 1, min(classes, len(names))).round().long()
    stds = _stds(model)
    if dims is None:
        informative = model.strands.get("informative", ())
        dims = list(informative or stds.argsort(descending=True).tolist())[:ROWS]
    rows = []
    for dim in dims:
        decoded, _ = _traverse(model, means[shown], dim, (-2.0, 0.0, 2.0))
        _, area = _traverse(model, means, dim, (0.0,))
        heat = heat_map(area.mean(0, keepdim=True))
        images = torch.cat([_in_color(decoded.transpose(0, 1).flatten(0, 1)), heat])
        rows.append(Row(f"dimension {dim}", images, f"std {float(stds[dim]):.2f}"))
    columns = (*(["−2", "0", "2"] * len(shown)), "area")
    caption = (
        "Each row shifts one dimension of several class means by −2, 0 and 2 times its std over the data. Last image: "
        "heat map of |x(1) − x(−1)|, the mean over all classes."
    )
    return Figure(tuple(rows), columns, caption)


def heat_map(area: Images) -> Float[torch.Tensor, "n 3 h w"]:
    """Changes of images in color, from none in black over red and yellow to the largest of all in white."""
    amount = area.mean(1, keepdim=True)
    amount = amount / amount.max().clamp(min=torch.finfo(amount.dtype).tiny)
    return torch.cat([3 * amount - shift for shift in range(3)], 1).clamp(0, 1)


def _in_color(images: Float[torch.Tensor, "*n c h w"]) -> Float[torch.Tensor, "*n d h w"]:
    """Gray images with three equal channels; others as they are."""
    return images.expand(*images.shape[:-3], 3, -1, -1) if images.shape[-3] == 1 else images


def _stds(model: Model) -> Float[torch.Tensor, " d"]:
    if not isinstance(model.method, FlowMethod):
        raise ValueError(
            f"This figure needs a flow, and {model.method.name()} has none. Choose another figure."
        )
    return model.method.std.cpu()


def _traverse(
    model: Model, means: Codes, dim: int, values: Sequence[float]
) -> tuple[Float[torch.Tensor, "v k c h w"], Images]:
    """Means decoded with one dimension shifted by each value, and |x(1) − x(−1)|."""
    std = float(_stds(model)[dim])

    def shifted(by: float) -> Images:
        return model.decode(model.strands.set(means, dim, means[:, [dim]] + by * std))

    return torch.stack([shifted(value) for value in values]), (shifted(1.0) - shifted(-1.0)).abs()
