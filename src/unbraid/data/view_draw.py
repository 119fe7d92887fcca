"""The draw of view pairs: two observations that share some factors, augmented independently."""

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.image_augmentation import crop_flip_color
from unbraid.data.mnist_stl10 import OverlayRenderer
from unbraid.types import ViewBatch


@dataclass(frozen=True)
class ViewDraw:
    """Two views that share some factors; their label numbers the combinations of the shared values.

    If the rows of a dataset come in pairs, the views are the two rows of a pair. Otherwise the views have equal values
    of the factors in `shared` and different values of all others. If `shared` is empty, both views are augmentations
    of one observation.

    Args:
        shared: Names of the factors that the views share, for datasets whose rows do not come in pairs.
        fresh_each_step: Sample new pairs at every step instead of using fixed pairs (mnist-stl10 only).
        crop: Minimum fraction of the area that a random crop keeps, up to 1 (no crop).
        flip: Probability of a horizontal flip.
        color_jitter: Strength of random brightness, contrast, saturation and hue, from 0 (none) to 1.
    """

    shared: tuple[str, ...] = ()
    fresh_each_step: bool = False
    crop: float = 0.6
    flip: float = 0.0
    color_jitter: float = 0.4

    def check(self, dataset: Dataset) -> None:
        """Raises unless the dataset allows such views."""
        if not (0 < self.crop <= 1 and 0 <= self.flip <= 1 and 0 <= self.color_jitter <= 1):
            raise ValueError(
                "crop must be above 0 and at most 1, and flip and color_jitter from 0 to 1; "
                f"got {self.crop}, {self.flip} and {self.color_jitter}."
            )
        if self.fresh_each_step and not isinstance(dataset.source, OverlayRenderer):
            raise ValueError(
                f"fresh_each_step requires the dataset mnist-stl10; leave it out for {dataset.name}."
            )
        if self.shared and dataset.instance is not None:
            raise ValueError(
                f"shared must be empty for {dataset.name}, whose rows come in pairs that decide what views share."
            )
        if self.shared:
            if dataset.factor_space is None:
                raise ValueError(f"{dataset.name} has no known factors that two views could share.")
            free = [len(values) > 1 for values in dataset.factor_space.observed_values]
            for name in self.shared:
                free[dataset.factor_space.column(name)] = False
            if not dataset.factor_space.is_product or not any(free):
                raise ValueError(
                    f"Views of {dataset.name} cannot share {', '.join(self.shared)} and differ in all other factors, "
                    "which requires another factor, and every combination of factors equally often."
                )
        elif dataset.instance is None and not dataset.images:
            raise ValueError(
                f"The rows of {dataset.name} cannot be cropped or color-jittered, so both views would be equal: name "
                "the factors that views share (--shared)."
            )

    def num_labels(self, dataset: Dataset) -> int:
        """The number of different labels: combinations of the shared values, or the dataset's classes."""
        shared = shared_factors(dataset, self.shared)
        if not shared or dataset.factor_space is None:
            return dataset.counts["classes"]
        return math.prod(
            len(dataset.factor_space.observed_values[dataset.factor_space.column(name)]) for name in shared
        )

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> ViewBatch:
        if self.fresh_each_step:
            x, factors, factors2 = self._new_pairs(dataset, size, generator)
        else:
            rows = dataset.sample_indices(size, generator)
            factors = dataset.factors(rows)
            rows2 = self._partners(dataset, rows, factors, generator)
            factors2 = dataset.factors(rows2)
            x = torch.cat([dataset.observe(rows), dataset.observe(rows2)])
        if dataset.images:
            x = crop_flip_color(x, generator, crop=self.crop, flip=self.flip, color=self.color_jitter)
        labels, nuisances = dataset.labels_and_nuisances(factors)
        shared = shared_factors(dataset, self.shared)
        if shared and factors is not None and dataset.factor_space is not None:
            labels = joint_label(dataset.factor_space, shared, factors)
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
            return dataset.instance_index.sample_partner(rows, generator)
        if not self.shared or factors is None or dataset.factor_space is None:
            return rows
        free = _varying(
            generator.device, tuple(name not in self.shared for name in dataset.factor_space.names)
        )
        u = torch.rand(factors.shape, generator=generator, device=generator.device)
        partner = torch.where(free, dataset.factor_space.redraw(factors, u, other=True), factors)
        return dataset.indices_of(dataset.factor_space.index(partner), generator)

    def _new_pairs(self, dataset: Dataset, size: int, generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Both views of new pairs, and their factors; the pair number of new pairs is 0."""
        assert isinstance(dataset.source, OverlayRenderer)
        table, images = dataset.source.sample_pairs(size, generator)
        values = torch.cat([table.values, torch.zeros_like(table.values[:, :, :1])], 2)
        return images.transpose(0, 1).flatten(0, 1).float() / dataset.max_value, values[:, 0], values[:, 1]


def shared_factors(dataset: Dataset, named: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names of the factors that two views share: those of the dataset's pairs, otherwise those named."""
    return dataset.source.shared if isinstance(dataset.source, OverlayRenderer) else named


def joint_label(
    space: FactorSpace, shared: tuple[str, ...], factors: Int[Tensor, "b k"]
) -> Int[Tensor, " b"]:
    """One number for the values of the shared factors, the last factor varying fastest."""
    label = torch.zeros_like(factors[:, 0])
    for name in shared:
        column = space.column(name)
        label = label * space.sizes[column] + factors[:, column]
    return label


@lru_cache(maxsize=64)
def _varying(device: torch.device, flags: tuple[bool, ...]) -> Tensor:
    """Flags as a tensor on the device; cached, because copying them makes the host wait."""
    with torch.inference_mode(False):
        return torch.tensor(flags, device=device)
