"""The draw of view pairs: two observations that share some factors and not others, each distorted on its own."""

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from unbraid.data.crop_flip_colour import crop_flip_colour
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist_stl10 import OverlayRenderer
from unbraid.types import ViewBatch


@dataclass(frozen=True)
class Views:
    """Two views that share some factors; their joint label numbers the values that they share.

    Where a dataset's rows come in pairs, a view's partner is the other one of its pair. Elsewhere the partner has
    the same values of the factors named in `shared` and other values of the rest; where none is named, both views
    show the same observation, and only crops, flips and colours part them.

    Args:
        shared: Names of the factors that the views share, for a dataset whose rows do not come in pairs.
        redraw: Draws new pairs at every step, where the dataset's are otherwise made once and kept.
        crop: The least share of an image's area that a random crop keeps; 1 for whole images.
        flip: How likely an image is mirrored.
        colour: The strength of random brightness, contrast, saturation and hue; 0 for none.
    """

    shared: tuple[str, ...] = ()
    redraw: bool = False
    crop: float = 0.6
    flip: float = 0.0
    colour: float = 0.4

    def check(self, dataset: Dataset) -> None:
        """Raises unless the dataset allows such views."""
        if not (0 < self.crop <= 1 and 0 <= self.flip <= 1 and 0 <= self.colour <= 1):
            raise ValueError(
                "crop must be above 0 and at most 1, and flip and colour from 0 to 1; "
                f"got {self.crop}, {self.flip} and {self.colour}."
            )
        if self.redraw and not isinstance(dataset.source, OverlayRenderer):
            raise ValueError(
                f"{dataset.name} makes no new pairs, so leave out redraw: it is for mnist-stl10."
            )
        if self.shared and dataset.instance is not None:
            raise ValueError(
                f"The rows of {dataset.name} come in pairs, which decide what views share: leave out shared."
            )
        if self.shared:
            if dataset.space is None:
                raise ValueError(f"{dataset.name} has no known factors that two views could share.")
            free = [len(values) > 1 for values in dataset.space.occurring]
            for name in self.shared:
                free[dataset.space.column(name)] = False
            if not dataset.space.product or not any(free):
                raise ValueError(
                    f"Views of {dataset.name} cannot share {', '.join(self.shared)} and differ in all else: that needs "
                    "another factor, and every combination of factors equally often."
                )
        elif dataset.instance is None and not dataset.images:
            raise ValueError(
                f"The observations of {dataset.name} are rows, which are not cropped or coloured, so that both views "
                "would be the same: name the factors that they share."
            )

    def labels(self, dataset: Dataset) -> int:
        """How many different labels views have: joint ones where they share factors, else the dataset's own."""
        shared = shared_factors(dataset, self.shared)
        if not shared or dataset.space is None:
            return dataset.sizes["classes"]
        return math.prod(len(dataset.space.occurring[dataset.space.column(name)]) for name in shared)

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> ViewBatch:
        if self.redraw:
            x, factors, factors2 = self._new(dataset, size, generator)
        else:
            rows = dataset.draw(size, generator)
            factors = dataset.factors(rows)
            rows2 = self._partners(dataset, rows, factors, generator)
            factors2 = dataset.factors(rows2)
            x = torch.cat([dataset.observe(rows), dataset.observe(rows2)])
        if dataset.images:
            x = crop_flip_colour(x, generator, crop=self.crop, flip=self.flip, colour=self.colour)
        labels, nuisances = dataset.roles(factors)
        shared = shared_factors(dataset, self.shared)
        if shared and factors is not None and dataset.space is not None:
            labels = joint_label(dataset.space, shared, factors)
        x1, x2 = x.chunk(2)
        return ViewBatch(x1, x2, labels, nuisances, factors, factors2)

    def _partners(
        self,
        dataset: Dataset,
        rows: Int[Tensor, " b"],
        factors: Int[Tensor, "b k"] | None,
        generator: Generator,
    ) -> Int[Tensor, " b"]:
        if dataset.instance is not None:
            return dataset.kin.siblings(rows, generator)
        if not self.shared or factors is None or dataset.space is None:
            return rows
        free = _varying(generator.device, tuple(name not in self.shared for name in dataset.space.names))
        u = torch.rand(factors.shape, generator=generator, device=generator.device)
        partner = torch.where(free, dataset.space.redraw(factors, u, other=True), factors)
        return dataset.find(dataset.space.index(partner), generator)

    def _new(self, dataset: Dataset, size: int, generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Both views of new pairs, and their factors; new pairs have no number, which shows as 0."""
        assert isinstance(dataset.source, OverlayRenderer)
        table, pictures = dataset.source.redraw(size, generator)
        values = torch.cat([table.values, torch.zeros_like(table.values[:, :, :1])], 2)
        return pictures.transpose(0, 1).flatten(0, 1).float() / dataset.white, values[:, 0], values[:, 1]


def shared_factors(dataset: Dataset, named: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names of the factors that two views share: those of the dataset's pairs, else those named."""
    return dataset.source.shared if isinstance(dataset.source, OverlayRenderer) else named


def joint_label(
    space: FactorSpace, shared: tuple[str, ...], factors: Int[Tensor, "b k"]
) -> Int[Tensor, " b"]:
    """One number for the values of the shared factors, the last one running fastest."""
    label = torch.zeros_like(factors[:, 0])
    for name in shared:
        column = space.column(name)
        label = label * space.sizes[column] + factors[:, column]
    return label


@lru_cache(maxsize=64)
def _varying(device: torch.device, flags: tuple[bool, ...]) -> Tensor:
    """Flags as a tensor on the device; kept, because copying them there makes the host wait."""
    with torch.inference_mode(False):
        return torch.tensor(flags, device=device)
