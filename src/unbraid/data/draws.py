"""Draws: how batches of each type are sampled from a dataset. The batch type states the supervision.

A draw is called with the dataset, the batch size, the generator of the data and the training step. The step is a
tensor, so that a curriculum can follow it without waiting for the device.
"""

import inspect
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from torch import Generator, Tensor

from unbraid.custom_code import require_known
from unbraid.data.dataset import Dataset
from unbraid.data.pair_draw import PairDraw
from unbraid.data.set_draw import SetDraw
from unbraid.data.view_draw import ViewDraw
from unbraid.types import Batch, ContrastBatch, PairBatch, SetBatch, ViewBatch


@runtime_checkable
class Draw(Protocol):
    """Samples batches of one type; `check` raises before training if the dataset cannot supply them."""

    def check(self, dataset: Dataset) -> None: ...

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> Any: ...


# Further abilities of a draw, which callers check with isinstance. A method may have the second one, too.


@runtime_checkable
class ChecksBatchSize(Protocol):
    """A draw that needs a minimum number of observations per batch size."""

    def check_batch_size(self, dataset: Dataset, size: int) -> None: ...


@runtime_checkable
class ChecksCUDAGraph(Protocol):
    """A draw, or a method, whose steps cannot be captured as a CUDA graph, for some datasets or for all."""

    def cuda_graph_unsupported(self, dataset: Dataset) -> str | None:
        """Why not, such as "partners are found by trial"; None where the step can be captured."""
        ...


@runtime_checkable
class CountsLabels(Protocol):
    """A draw that decides how many different labels its batches have."""

    def num_labels(self, dataset: Dataset) -> int: ...


@runtime_checkable
class ChoosesClass(Protocol):
    """A draw of pairs that can require both observations to be of the same class."""

    @property
    def same_class(self) -> bool: ...


@runtime_checkable
class SeesBackground(Protocol):
    """A draw, or its class, whose batches include observations of the background."""

    sees_background: ClassVar[bool]


@dataclass(frozen=True)
class IIDDraw:
    """Independent observations; with a background, half of a batch is background and unmarked."""

    sees_background: ClassVar[bool] = True

    def check(self, dataset: Dataset) -> None:
        """Accepts every dataset."""

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> Batch:
        if dataset.background is not None:
            sizes = (dataset, size - size // 2), (dataset.background, size // 2)
            return Batch(
                torch.cat([each.observe(each.sample_indices(count, generator)) for each, count in sizes])
            )
        rows = dataset.sample_indices(size, generator)
        factors = dataset.factors(rows)
        return Batch(dataset.observe(rows), *dataset.labels_and_nuisances(factors), factors)


@dataclass(frozen=True)
class ContrastDraw:
    """Target and background observations, sampled independently of each other."""

    sees_background: ClassVar[bool] = True

    def check(self, dataset: Dataset) -> None:
        """Raises unless the dataset has a background."""
        if dataset.background is None:
            raise ValueError(
                f"This method needs a background dataset, and {dataset.name} has none. Pass --background NAME_OR_PATH "
                "(a dataset, a folder of images, an .npz or a table)."
            )

    def check_batch_size(self, dataset: Dataset, size: int) -> None:
        """Raises unless target and background each have as many observations as a batch."""
        assert dataset.background is not None
        for each, role in ((dataset, "target"), (dataset.background, "background")):
            if len(each) < size:
                raise ValueError(
                    f"A batch of {size} needs {size} different observations, and the {role} {each.name} has "
                    f"{len(each)}: lower --batch-size."
                )

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> ContrastBatch:
        self.check(dataset)
        assert dataset.background is not None
        rows = dataset.sample_indices(size, generator)
        background = dataset.background.observe(dataset.background.sample_indices(size, generator))
        factors = dataset.factors(rows)
        return ContrastBatch(
            dataset.observe(rows), background, *dataset.labels_and_nuisances(factors), factors
        )


DRAWS: dict[type, type] = {
    Batch: IIDDraw,
    PairBatch: PairDraw,
    ContrastBatch: ContrastDraw,
    SetBatch: SetDraw,
    ViewBatch: ViewDraw,
}


def draw_class(batch_type: type, name: str | None = None) -> type:
    """The class of a draw: the standard one of a batch type, or your own by its reference once it was named."""
    if name is not None:
        draw = require_known(name, option="--draw")
        if not (inspect.isclass(draw) and issubclass(draw, Draw)):
            raise ValueError(
                f"{name} is no draw. A draw is a class with `check(dataset)` and `__call__(dataset, size, generator, "
                "step)`, which returns a batch."
            )
        return draw
    if batch_type not in DRAWS:
        raise ValueError(
            f"There is no standard draw of {batch_type.__name__}. Name your own: --draw FILE.py:CLASS."
        )
    return DRAWS[batch_type]
