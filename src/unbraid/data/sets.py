"""Sets: each observation with its augmentations. Self-supervised Disentangled Representation Learning, 2021,
Secs. 4.2 and 4.3 and App. B."""

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
from unbraid.naming import choose
from unbraid.seeds import derive
from unbraid.types import Images, SetBatch

TRANSFORMS = ("translate", "rotate", "scale")


@dataclass(frozen=True)
class Sets:
    """Each observation with its augmentations, itself the first of its set.

    Where the latents of the observations are known, they are moved along some of them, as the dataset says. Images
    are transformed: each further member of a set by another combination of the transforms.

    Args:
        members: Observations in a set, the original among them; 0 for 10, or for images for the original and every
            combination of the transforms.
        transforms: Of images: translate, rotate and scale, or some of them.
        translate: The farthest an image is moved, to each side and up or down, as a part of its side.
        rotate: The farthest it is turned, in degrees, from 0 on.
        scale: How many times as large it becomes at most; at least one in so many.
        redraw: Whether sets are made anew each time; without it each observation has one set, made once.
    """

    members: int = 0
    transforms: tuple[str, ...] = TRANSFORMS
    translate: float = 0.1  # Table 1, as the two below
    rotate: float = 5.0
    scale: float = 1.25
    redraw: bool = False

    def check(self, dataset: Dataset) -> None:
        """Raises unless the dataset's observations can be augmented like this."""
        if dataset.latents is None and not dataset.images:
            raise ValueError(
                f"This method learns from sets of augmentations, and {dataset.name} has rows whose latents are not "
                "known: use images, or the dataset mixture."
            )
        if self.members < 0 or self.members == 1:
            raise ValueError(
                f"A set needs at least 2 members, the original and an augmentation of it; got members={self.members}."
            )
        for name in self.transforms:
            choose("transform", name, dict.fromkeys(TRANSFORMS))
        if not self.transforms or len(set(self.transforms)) < len(self.transforms):
            raise ValueError(
                f"Give each of the transforms once, at least one; got {', '.join(self.transforms)}."
            )
        if not (0 <= self.translate < 1 and 0 <= self.rotate <= 180 and 1 <= self.scale < math.inf):
            raise ValueError(
                "Images are translated by less than 1 of their side, turned by at most 180 degrees and scaled by at "
                f"least 1; got {self.translate}, {self.rotate} and {self.scale}."
            )

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> SetBatch:
        rows = dataset.draw(size, generator)
        x, factors = dataset.observe(rows), dataset.factors(rows)
        if dataset.latents is None:
            others = self._transformed(x, self._chances(dataset, rows, generator))
        else:
            others = self._moved(dataset.latents, rows, generator)
        return SetBatch(torch.cat([x[:, None], others], 1), *dataset.roles(factors), factors)

    def _moved(
        self, latents: Latents, rows: Int[Tensor, " b"], generator: Generator
    ) -> Float[Tensor, "b m f"]:
        """Observations of moved latents."""
        others = (self.members or 10) - 1
        if not self.redraw:
            return _sets(latents, others).index_select(0, rows)
        shape = (len(rows), others, len(latents.directions))
        return latents.augmented(rows, torch.randn(shape, generator=generator, device=generator.device))

    def _chances(
        self, dataset: Dataset, rows: Int[Tensor, " b"], generator: Generator
    ) -> Float[Tensor, "b m 4"]:
        """Numbers in [0, 1) that decide how far each member is moved right, down, turned and scaled."""
        others = (self.members or 2 ** len(self.transforms)) - 1
        if self.redraw:
            return torch.rand(len(rows), others, 4, generator=generator, device=generator.device)
        return _table(_count(dataset), others, generator.device).index_select(0, rows)

    def _transformed(self, x: Images, chances: Float[Tensor, "b m 4"]) -> Float[Tensor, "b m c h w"]:
        """The images under as many combinations of the transforms as there are columns of chances."""
        others = chances.shape[1]
        chosen = _chosen(self.transforms, others, x.device)
        right, down, angle, scale = chances.unbind(2)
        smallest = 1 / self.scale
        copies = x[:, None].expand(-1, others, -1, -1, -1).flatten(0, 1)
        return affine(
            copies,
            right=(chosen[:, 0] * self.translate * (2 * right - 1)).flatten(),
            down=(chosen[:, 0] * self.translate * (2 * down - 1)).flatten(),
            angle=(chosen[:, 1] * math.radians(self.rotate) * angle).flatten(),
            scale=(1 + chosen[:, 2] * (smallest - 1 + (self.scale - smallest) * scale)).flatten(),
        ).unflatten(0, (len(x), others))


# What is made once is kept, and belongs to the data: it is the same in every run.


@lru_cache(maxsize=4)
def _sets(latents: Latents, others: int) -> Float[Tensor, "n m f"]:
    """An observation's augmentations, for every row."""
    device = latents.values.device
    generator = Generator(device).manual_seed(latents.seed)
    shape = (len(latents.values), others, len(latents.directions))
    steps = torch.randn(shape, generator=generator, device=device)
    rows = torch.arange(len(latents.values), device=device)
    parts = [latents.augmented(part, steps[part]) for part in rows.split(10_000)]
    return torch.cat(parts)


@lru_cache(maxsize=4)
def _table(rows: int, others: int, device: torch.device) -> Float[Tensor, "n m 4"]:
    """Numbers in [0, 1) for every row."""
    generator = Generator(device).manual_seed(derive(0, "sets"))
    return torch.rand(rows, others, 4, generator=generator, device=device)


@lru_cache(maxsize=16)
def _chosen(transforms: tuple[str, ...], others: int, device: torch.device) -> Float[Tensor, "m 3"]:
    """1 where a member undergoes a transform: every combination in turn, single ones first."""
    choices = [combination for combination in product((0, 1), repeat=len(transforms)) if any(combination)]
    choices.sort(key=lambda combination: (sum(combination), [-chosen for chosen in combination]))
    lines = [
        [dict(zip(transforms, choice, strict=True)).get(name, 0) for name in TRANSFORMS] for choice in choices
    ]
    return torch.tensor([lines[place % len(lines)] for place in range(others)], device=device).float()


def _count(dataset: Dataset) -> int:
    """How many rows there are, drawn or not."""
    if dataset.combinations is not None:
        return len(dataset.combinations)
    return dataset.space.combinations if dataset.space is not None else len(dataset.source)  # type: ignore[arg-type]
