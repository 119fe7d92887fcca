"""Figures of a trained model: reconstructions, traversals, swapped strands.

Each figure is a deterministic function of a model and a dataset.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Generator, Tensor

from unbraid.data import Dataset
from unbraid.methods import HasPosterior
from unbraid.metrics import kl_per_dim
from unbraid.report.image_grid import image_sheet
from unbraid.runs import Model
from unbraid.types import Images, Observations

TRAVERSAL_VALUES = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
# Dimensions with a larger KL (in nats) or variance are active: the threshold of UDR and of active units.
ACTIVE_THRESHOLD = 0.01
MAX_ROWS = 12  # maximum number of rows of a traversal


class Row(NamedTuple):
    """One row of images with a label and a note."""

    label: str
    images: Images
    note: str = ""
    highlighted: bool = False  # shown in red


class Figure(NamedTuple):
    """Rows of images under common column labels."""

    rows: tuple[Row, ...]
    columns: tuple[str, ...] = ()
    caption: str = ""
    heading: str = ""  # default: the heading under which the figure is declared

    def sheet(self) -> Image.Image:
        """The figure as one image."""
        rows = [(f"{row.label}  {row.note}".rstrip(), row.images) for row in self.rows]
        highlighted = [index for index, row in enumerate(self.rows) if row.highlighted]
        return image_sheet(rows, columns=self.columns or None, highlight=highlighted)


class Activity(NamedTuple):
    """Activity of each dimension: its KL if the method has a posterior, otherwise its variance."""

    amounts: Float[np.ndarray, " d"]
    unit: str  # nats or variance

    @property
    def order(self) -> list[int]:
        """The dimensions, most active first."""
        return np.argsort(-self.amounts, kind="stable").tolist()

    @property
    def active(self) -> list[int]:
        """The active dimensions, most active first; at least one."""
        order = self.order
        return [dim for dim in order if self.amounts[dim] > ACTIVE_THRESHOLD] or order[:1]

    def describe(self, dim: int) -> str:
        """The activity of one dimension as text."""
        name = "KL" if self.unit == "nats" else "variance"
        return f"{name} {self.amounts[dim]:.2f}"


def examples(dataset: Dataset, count: int, *, seed: int = 0) -> Observations:
    """A reproducible sample of observations."""
    cpu_dataset = dataset.to("cpu")
    return cpu_dataset.observe(cpu_dataset.sample_indices(count, Generator().manual_seed(seed)))


def conditions(model: Model, dataset: Dataset, count: int, *, seed: int = 0) -> Tensor | None:
    """Known nuisances or labels of the examples for a conditional method, otherwise None."""
    cpu_dataset = dataset.to("cpu", observations=False)
    return model.method.condition_from(
        *cpu_dataset.labels_and_nuisances(
            cpu_dataset.factors(cpu_dataset.sample_indices(count, Generator().manual_seed(seed)))
        )
    )


@torch.no_grad()
def activity(model: Model, x: Observations) -> Activity:
    """Activity of each dimension on these observations."""
    if not isinstance(model.method, HasPosterior):
        return Activity(model.encode(x).numpy().var(0), "variance")
    mean, logvar = (
        parameter.cpu().numpy() for parameter in model.method.posterior(x.to(model.method.step.device))
    )
    return Activity(kl_per_dim(mean, logvar).per_dim, "nats")


def reconstructions(model: Model, dataset: Dataset, *, count: int = 10, seed: int = 0) -> Figure:
    """Images and their reconstructions."""
    x, condition = examples(dataset, count, seed=seed), conditions(model, dataset, count, seed=seed)
    rows = Row("input", x), Row("decoded", model.reconstruct(x, condition=condition))
    return Figure(rows, caption="Top: input images. Bottom: reconstructions.")


def traversals(
    model: Model,
    dataset: Dataset,
    *,
    images: Sequence[int] = (0,),
    dims: Sequence[int] | None = None,
    values: Sequence[float] = TRAVERSAL_VALUES,
    seed: int = 0,
) -> Figure:
    """Traversals: images decoded while one dimension takes several values, one row per dimension.

    Args:
        model: A trained model with a decoder.
        dataset: Source of the images.
        images: Indices of the start images among the sampled images; one row per image.
        dims: Dimensions to traverse. Default: the active ones, most active first.
        values: Values that the dimension takes.
        seed: Random seed for sampling images.
    """
    x, condition = examples(dataset, 512, seed=seed), conditions(model, dataset, 512, seed=seed)
    condition = None if condition is None else condition[list(images)]
    dim_activity = activity(model, x)
    shown_dims = dim_activity.active[:MAX_ROWS] if dims is None else list(dims)
    rows = []
    for dim in shown_dims:
        decoded = model.traverse(x[list(images)], dim, values, condition=condition)
        label = f"dimension {dim}"
        rows += [
            Row(label, decoded[:, index], dim_activity.describe(dim) if index == 0 else "")
            for index in range(len(images))
        ]
    caption = "Each row sets one dimension to the values above; all other dimensions are fixed."
    if dims is None and (num_hidden := model.strands.size - len(shown_dims)):
        reason = "inactive and not shown" if len(shown_dims) < MAX_ROWS else "not shown"
        caption += f" {num_hidden} of {model.strands.size} dimensions are {reason}."
    return Figure(tuple(rows), tuple(f"{value:g}".replace("-", "−") for value in values), caption)


def swaps(
    model: Model,
    dataset: Dataset,
    *,
    strands: Sequence[str | int] | None = None,
    count: int = 8,
    seed: int = 0,
) -> Figure:
    """Pairs of images, and the first image of each pair with one strand replaced by that of the second.

    The default is every strand of the method, or the most active dimensions if the code has one strand only.
    """
    size = max(2 * count, 512)
    x, condition = examples(dataset, size, seed=seed), conditions(model, dataset, size, seed=seed)
    a, b = x[:count], x[count : 2 * count]
    pair_conditions = (None, None) if condition is None else (condition[:count], condition[count : 2 * count])
    if strands is None:
        proper_strands = [name for name, dims in model.strands.items() if len(dims) < model.strands.size]
        strands = proper_strands or activity(model, x).active[:4]
    rows = [Row("a", a), Row("b", b)]
    for strand in strands:
        name = f"dimension {strand}" if isinstance(strand, int) else strand
        rows.append(Row(f"{name} of b", model.swap(a, b, strand, conditions=pair_conditions)[0]))
    caption = "Each column is a pair of images a and b. Rows below: a decoded with one strand replaced by that of b."
    return Figure(tuple(rows), caption=caption)
