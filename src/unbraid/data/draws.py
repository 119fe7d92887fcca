"""Draws: how each kind of batch is made from a dataset. The type of the batch says what supervision it has.

A draw is called with the dataset, the size of the batch, the generator of the data and the step of training, which is
a tensor so that a curriculum can follow it without waiting for the device.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.sets import Sets
from unbraid.data.views import Views
from unbraid.schedules import Schedule
from unbraid.types import Batch, ContrastBatch, PairBatch, SetBatch, ViewBatch

PairRule = Literal["exactly", "at-most", "disentanglement-lib"]
FOREVER = 2**31  # a step by which every schedule has ended


@runtime_checkable
class Draw(Protocol):
    """Makes batches of one type; `check` says before training what the dataset lacks for it."""

    def check(self, dataset: Dataset) -> None: ...

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> Any: ...


@dataclass(frozen=True)
class Samples:
    """Observations drawn independently; where there is a background, half of them are of it, and none says which."""

    sees_background: ClassVar[bool] = True

    def check(self, dataset: Dataset) -> None:
        """Any dataset will do."""

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> Batch:
        if dataset.background is not None:
            parts = (dataset, size - size // 2), (dataset.background, size // 2)
            return Batch(torch.cat([part.observe(part.draw(count, generator)) for part, count in parts]))
        rows = dataset.draw(size, generator)
        factors = dataset.factors(rows)
        return Batch(dataset.observe(rows), *dataset.roles(factors), factors)


@dataclass(frozen=True)
class Pairs:
    """Two observations that differ in k factors.

    Where rows show instances, such as a written digit in several colours, a pair is two rows of one instance,
    and k is counted. Unknown nuisances never count: there they may differ, elsewhere they stay the same.

    Args:
        rule: `exactly`: k factors take other values. `at-most`: k factors are drawn again and may come out
            the same (Locatello et al., 2020). `disentanglement-lib`: as its code has it, one factor or k of
            them, with equal chance, are drawn again.
        k: How many factors; 0 for a number drawn anew for each pair, from 1 to one less than can change.
        fixed: Names of factors that stay the same in a pair.
        difficulty: How many factors by step, in the place of k, such as linear:1:3:150000: warm-up by
            difficulty (SW-VAE). It is rounded; both its ends must be from 1 to the number of factors that can
            change.
        same_class: The class stays the same in a pair; methods that exchange what tells the class need that.
    """

    rule: PairRule = "exactly"
    k: int = 0
    fixed: tuple[str, ...] = ()
    difficulty: Schedule | None = None
    same_class: bool = False

    def check(self, dataset: Dataset) -> None:
        """Raises unless the dataset's factors allow such pairs."""
        if dataset.space is None:
            raise ValueError(
                f"This method learns from pairs that differ in k factors, and {dataset.name} has no known "
                "factors: use a dataset with factors, or an .npz with an array `factors` beside `images`."
            )
        if self.same_class and dataset.label is None:
            raise ValueError(
                f"This method learns from pairs of the same class, and {dataset.name} has no class labels: use a "
                "dataset with labels."
            )
        if dataset.instance is not None and dataset.combinations is not None:
            self._check_instances(dataset)
            return
        free = sum(self._free(dataset))
        if self.k < 0 or self.k > free or free == 0:
            raise ValueError(f"Pairs of {dataset.name} can change 1 to {free} factors; got k={self.k}.")
        if self.k and self.difficulty is not None:
            raise ValueError(
                f"How many factors change is given twice, k={self.k} and {self.difficulty}: leave one out."
            )
        if self.difficulty is not None:
            ends = [float(self.difficulty(torch.tensor(step)).round()) for step in (0, FOREVER)]
            if not all(1 <= end <= free for end in ends):
                raise ValueError(
                    f"Pairs of {dataset.name} can change 1 to {free} factors; got {self.difficulty}, which goes from "
                    f"{ends[0]:g} to {ends[1]:g}."
                )

    def not_captured(self, dataset: Dataset) -> str | None:
        """Why such pairs cannot be drawn within a recorded step, if so."""
        if dataset.instance is not None or dataset.space is None or dataset.space.product:
            return None
        return f"not every combination of factors occurs in {dataset.name}, and partners are found by trial"

    def _check_instances(self, dataset: Dataset) -> None:
        name, instance = dataset.name, dataset.instance
        if self.k or self.fixed or self.difficulty is not None or self.rule != "exactly":
            raise ValueError(
                f"Pairs of {name} are two rows of the same {instance}, and in how many factors they differ is "
                "counted: leave out rule, k, fixed and difficulty."
            )
        if dataset.kin.fewest < 2:
            raise ValueError(
                f"Pairs of {name} are two rows of the same {instance}, and some {instance} has a single row: show "
                "each one at least twice, as two colourings do."
            )
        values = dataset.factors(dataset.kin.order)
        if self.same_class and values is not None:
            labels, _ = dataset.roles(values)
            assert labels is not None and instance is not None and dataset.space is not None
            numbers = values[:, dataset.space.column(instance)]
            if bool(((numbers[1:] == numbers[:-1]) & (labels[1:] != labels[:-1])).any()):
                raise ValueError(
                    f"This method learns from pairs of the same class, and rows of {name} that show the same "
                    f"{instance} differ in their {dataset.label}."
                )

    def _free(self, dataset: Dataset) -> tuple[int, ...]:
        """1 for each factor that may change, 0 for the others."""
        space = dataset.space
        assert space is not None
        kept = (*self.fixed, *dataset.unknown, dataset.instance, dataset.label if self.same_class else None)
        fixed = {space.column(name) for name in kept if name is not None}
        return tuple(
            int(len(values) > 1 and column not in fixed) for column, values in enumerate(space.occurring)
        )

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> PairBatch:
        space = dataset.space
        assert space is not None
        rows = dataset.draw(size, generator)
        values = dataset.factors(rows)
        assert values is not None
        if dataset.instance is not None and dataset.combinations is not None:
            rows2 = dataset.kin.siblings(rows, generator)
            partner = dataset.factors(rows2)
            assert partner is not None
            known = tuple(int(name not in dataset.unknown) for name in space.names)
            k = ((values != partner) & _on(values.device, known).bool()).sum(1)
        else:
            k, partner = self._partners(space, self._free(dataset), values, generator, step)
            rows2 = dataset.find(space.index(partner), generator)
        return PairBatch(
            dataset.observe(rows),
            dataset.observe(rows2),
            k,
            *dataset.roles(values),
            values,
            partner,
            dataset.roles(partner)[0],
        )

    def _partners(
        self,
        space: FactorSpace,
        free: tuple[int, ...],
        values: Int[Tensor, "b k"],
        generator: Generator,
        step: Tensor,
    ) -> tuple[Int[Tensor, " b"], Int[Tensor, "b k"]]:
        """How many factors each pair changes, and the second's values."""
        k, changed = self._choose(free, len(values), generator, step)
        if space.product:
            return k, torch.where(changed, self._fresh(space, values, generator), values)
        # Not every combination occurs, or not equally often: draw many candidates a row and keep one with the
        # chance that the distribution gives it among them, which is its chance among all to within some
        # 1/candidates. Rows without one that occurs choose other factors to change.
        rounds, candidates = 100, 512
        partner, wanting = values.clone(), torch.arange(len(values), device=values.device)
        for _ in range(rounds):
            repeated = values[wanting].repeat_interleave(candidates, 0)
            proposal = torch.where(
                changed.repeat_interleave(candidates, 0), self._fresh(space, repeated, generator), repeated
            )
            weight = space.weight(space.index(proposal)).view(len(wanting), candidates)
            u = torch.rand(weight.shape, generator=generator, device=values.device, dtype=torch.float64)
            best = (weight.log() - (-u.log()).log()).argmax(1)  # Gumbel: drawn in proportion to the weight
            place = torch.arange(len(wanting), device=values.device) * candidates + best
            partner[wanting] = proposal[place]
            wanting = wanting[~(weight > 0).any(1)]
            if len(wanting) == 0:
                return k, partner
            k[wanting], changed = self._choose(free, len(wanting), generator, step)
        raise ValueError(
            f"Some combinations have no partner that differs in {self.rule} {self.k or 'k'} factors within "
            "the dataset: allow more combinations, another k, or fewer fixed factors."
        )

    def _choose(
        self, may_change: tuple[int, ...], size: int, generator: Generator, step: Tensor
    ) -> tuple[Int[Tensor, " b"], Bool[Tensor, "b k"]]:
        """How many factors change in each pair, and which."""
        free, most = _on(generator.device, may_change).bool(), sum(may_change)
        k = 1 + (_uniform(generator, size) * max(most - 1, 1)).long()
        if self.k:
            k = torch.full_like(k, self.k)
        if self.difficulty is not None:
            k = self.difficulty(step).round().long().expand(size)
        if self.rule == "disentanglement-lib":
            k = torch.where(_uniform(generator, size) < 0.5, 1, k)
        rank = _uniform(generator, size, len(free)).masked_fill(~free, 2.0).argsort(1).argsort(1)
        return k, rank < k[:, None]

    def _fresh(
        self, space: FactorSpace, values: Int[Tensor, "b k"], generator: Generator
    ) -> Int[Tensor, "b k"]:
        """New values among those that occur; under `exactly` none is the old one."""
        return space.redraw(values, _uniform(generator, *values.shape), other=self.rule == "exactly")


@dataclass(frozen=True)
class Contrasts:
    """Target and background observations, drawn apart from each other."""

    sees_background: ClassVar[bool] = True

    def check(self, dataset: Dataset) -> None:
        """Raises unless the dataset has a background."""
        if dataset.background is None:
            raise ValueError(
                f"This method learns what a target has and a background lacks, and {dataset.name} comes without a "
                "background: name one with --background (a dataset, a folder of images, an .npz or a table)."
            )

    def fits(self, dataset: Dataset, size: int) -> None:
        """Raises unless target and background have as many observations as a batch of theirs."""
        assert dataset.background is not None
        for part, role in ((dataset, "target"), (dataset.background, "background")):
            if len(part) < size:
                raise ValueError(
                    f"A batch of {size} needs as many different observations, and the {role} {part.name} has "
                    f"{len(part)}: give a smaller batch (--batch)."
                )

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> ContrastBatch:
        self.check(dataset)
        assert dataset.background is not None
        rows = dataset.draw(size, generator)
        background = dataset.background.observe(dataset.background.draw(size, generator))
        factors = dataset.factors(rows)
        return ContrastBatch(dataset.observe(rows), background, *dataset.roles(factors), factors)


def _uniform(generator: Generator, *shape: int) -> Float[Tensor, "..."]:
    return torch.rand(*shape, generator=generator, device=generator.device)


@lru_cache(maxsize=64)
def _on(device: torch.device, numbers: tuple[int, ...]) -> Tensor:
    """Numbers as a tensor on the device; kept, because copying them there makes the host wait."""
    return torch.tensor(numbers, device=device)


DRAWS: dict[type, type] = {
    Batch: Samples,
    PairBatch: Pairs,
    ContrastBatch: Contrasts,
    SetBatch: Sets,
    ViewBatch: Views,
}
