"""The draw of sets: each observation with its augmentations.

Self-supervised Disentangled Representation Learning, 2021, Secs. 4.2 and 4.3 and App. B.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.data.affine import affine
from unbraid.data.dataset import Dataset
from unbraid.data.latents import Latents
from unbraid.data.row_noise import row_noise
from unbraid.seeds import derive_seed
from unbraid.settings import lookup, require_nonnegative
from unbraid.types import Images, SetBatch

TRANSFORMS = ("translate", "rotate", "scale")


@dataclass(frozen=True)
class SetDraw:
    """Each observation with its augmentations; the observation is the first of its set.

    If the dataset has true latents, its observations are augmented along some of them. Images are transformed: each
    augmentation in a set uses another combination of the transforms.

    Args:
        set_size: Number of observations per set, including the original; 0 is 10, or, for images, the original and
            every combination of the transforms.
        transforms: Image transforms, any of translate, rotate and scale.
        translate: Maximum translation in each direction, as a fraction of the side.
        rotate: Maximum rotation in degrees; the minimum is 0.
        scale: Maximum scale factor s; the minimum is 1/s.
        fresh_each_step: Sample new augmentations at every step, instead of one fixed set per observation.
        fixed_noise: Standard deviation of Gaussian noise that each member of a fixed set keeps for the whole training;
            usually with --method.noise 0, which adds new noise at every step.
    """

    set_size: int = 0
    transforms: tuple[str, ...] = TRANSFORMS
    translate: float = 0.1  # Table 1, like rotate and scale
    rotate: float = 5.0
    scale: float = 1.25
    fresh_each_step: bool = False
    fixed_noise: float = 0.0

    def check(self, dataset: Dataset) -> None:
        """Raises unless the dataset's observations can be augmented in this way."""
        if dataset.latents is None and not dataset.images:
            raise ValueError(
                f"This method needs sets of augmentations, and the rows of {dataset.name} have no known latents: use "
                "images, or the dataset mixture."
            )
        if self.set_size < 0 or self.set_size == 1:
            raise ValueError(
                f"A set needs at least 2 members, the original and one augmentation; got set_size={self.set_size}."
            )
        require_nonnegative(fixed_noise=self.fixed_noise)
        if self.fixed_noise and self.fresh_each_step:
            raise ValueError(
                f"--fixed-noise requires fixed sets; got fixed_noise={self.fixed_noise} with --fresh-each-step. Use "
                "the method's --noise, which is new at every step."
            )
        for name in self.transforms:
            lookup("transform", name, dict.fromkeys(TRANSFORMS))
        if not self.transforms or len(set(self.transforms)) < len(self.transforms):
            raise ValueError(
                f"transforms must name at least one transform, each once; got {', '.join(self.transforms)}."
            )
        if not (0 <= self.translate < 1 and 0 <= self.rotate <= 180 and 1 <= self.scale < math.inf):
            raise ValueError(
                "translate must be at least 0 and below 1, rotate from 0 to 180 degrees, and scale at least 1; got "
                f"{self.translate}, {self.rotate} and {self.scale}."
            )

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> SetBatch:
        rows = dataset.sample_indices(size, generator)
        x, factors = dataset.observe(rows), dataset.factors(rows)
        if dataset.latents is None:
            augmented = self._transformed(x, self._random_numbers(dataset, rows, generator))
        else:
            augmented = self._augmented(dataset.latents, rows, generator)
        sets = torch.cat([x[:, None], augmented], 1)
        if self.fixed_noise:
            sets = sets + self.fixed_noise * _fixed_noise(dataset, rows, sets)
        return SetBatch(sets, *dataset.labels_and_nuisances(factors), factors)

    def _augmented(
        self, latents: Latents, rows: Int[Tensor, " b"], generator: Generator
    ) -> Float[Tensor, "b m f"]:
        """Observations of augmented latents."""
        num_augmentations = (self.set_size or 10) - 1
        if not self.fresh_each_step:
            return _fixed_augmentations(latents, num_augmentations).index_select(0, rows)
        shape = (len(rows), num_augmentations, len(latents.directions))
        return latents.augmented(rows, torch.randn(shape, generator=generator, device=generator.device))

    def _random_numbers(
        self, dataset: Dataset, rows: Int[Tensor, " b"], generator: Generator
    ) -> Float[Tensor, "b m 4"]:
        """Numbers in [0, 1) for the horizontal and vertical translation, rotation and scale of each augmentation."""
        num_augmentations = (self.set_size or 2 ** len(self.transforms)) - 1
        if self.fresh_each_step:
            return torch.rand(len(rows), num_augmentations, 4, generator=generator, device=generator.device)
        return _fixed_random_numbers(dataset.num_rows, num_augmentations, generator.device).index_select(
            0, rows
        )

    def _transformed(self, x: Images, numbers: Float[Tensor, "b m 4"]) -> Float[Tensor, "b m c h w"]:
        """Transformed images: one per image and per column of numbers, each with another combination of transforms."""
        num_augmentations = numbers.shape[1]
        mask = _transform_mask(self.transforms, num_augmentations, x.device)
        right, down, angle, scale = numbers.unbind(2)
        min_scale = 1 / self.scale
        copies = x[:, None].expand(-1, num_augmentations, -1, -1, -1).flatten(0, 1)
        return affine(
            copies,
            right=(mask[:, 0] * self.translate * (2 * right - 1)).flatten(),
            down=(mask[:, 0] * self.translate * (2 * down - 1)).flatten(),
            angle=(mask[:, 1] * math.radians(self.rotate) * angle).flatten(),
            scale=(1 + mask[:, 2] * (min_scale - 1 + (self.scale - min_scale) * scale)).flatten(),
        ).unflatten(0, (len(x), num_augmentations))


def _fixed_noise(dataset: Dataset, rows: Int[Tensor, " b"], sets: Tensor) -> Tensor:
    """Standard normal noise in the shape of the sets, which depends on the dataset and the row only."""
    seed = derive_seed(0 if dataset.latents is None else dataset.latents.seed, "set noise")
    return row_noise(rows, sets[0].numel(), seed=seed).to(sets.dtype).view_as(sets)


# Fixed augmentations depend on the dataset only: they are cached, and are the same in every run.


@lru_cache(maxsize=4)
def _fixed_augmentations(latents: Latents, num_augmentations: int) -> Float[Tensor, "n m f"]:
    """The fixed augmentations of every row."""
    device = latents.values.device
    generator = Generator(device).manual_seed(latents.seed)
    shape = (len(latents.values), num_augmentations, len(latents.directions))
    steps = torch.randn(shape, generator=generator, device=device)
    rows = torch.arange(len(latents.values), device=device)
    return torch.cat([latents.augmented(batch, steps[batch]) for batch in rows.split(10_000)])


@lru_cache(maxsize=4)
def _fixed_random_numbers(rows: int, num_augmentations: int, device: torch.device) -> Float[Tensor, "n m 4"]:
    """Fixed numbers in [0, 1) for every row."""
    generator = Generator(device).manual_seed(derive_seed(0, "sets"))
    return torch.rand(rows, num_augmentations, 4, generator=generator, device=device)


@lru_cache(maxsize=16)
def _transform_mask(
    transforms: tuple[str, ...], num_augmentations: int, device: torch.device
) -> Float[Tensor, "m 3"]:
    """1 for each transform that is applied to an augmentation; cycles through all combinations, single ones first."""
    combinations = [
        combination for combination in product((0, 1), repeat=len(transforms)) if any(combination)
    ]
    combinations.sort(key=lambda combination: (sum(combination), [-applies for applies in combination]))
    masks = [
        [dict(zip(transforms, applies, strict=True)).get(name, 0) for name in TRANSFORMS]
        for applies in combinations
    ]
    return torch.tensor(
        [masks[index % len(masks)] for index in range(num_augmentations)], device=device
    ).float()
