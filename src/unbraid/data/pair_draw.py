"""The draw of pairs: two observations that differ in k factors, or two rows of one instance."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.schedules import Schedule
from unbraid.types import PairBatch

PairRule = Literal["exactly", "at-most", "disentanglement-lib"]
FOREVER = 2**31  # a step by which every schedule has ended
ROUNDS = 100  # attempts to find a partner for every row
CANDIDATES = 512  # partners proposed per row in each attempt


@dataclass(frozen=True)
class PairDraw:
    """Two observations that differ in k factors.

    If several rows show one instance, such as a digit in several colors, a pair is two rows of one instance and k is
    counted. Hidden nuisances never count: rows of one instance may differ in them, other pairs share them.

    Args:
        pair_rule: `exactly`: k factors take other values. `at-most`: k factors are redrawn and may keep their value
            (Locatello et al., 2020). `disentanglement-lib`: one factor or k factors, with equal probability, are
            redrawn, as in the code of disentanglement_lib.
        k: Number of factors that change; 0 draws it for each pair, from 1 to one less than can change.
        fixed_factors: Names of factors that never change within a pair.
        k_schedule: Schedule of k, rounded, in place of k, such as linear:1:3:150000 (warm-up by difficulty, SW-VAE).
            Both ends must be from 1 to the number of factors that can change.
        same_class: Both observations have the same class, as methods need that swap the class strand.
    """

    pair_rule: PairRule = "exactly"
    k: int = 0
    fixed_factors: tuple[str, ...] = ()
    k_schedule: Schedule | None = None
    same_class: bool = False

    def check(self, dataset: Dataset) -> None:
        """Raises unless the dataset's factors allow such pairs."""
        name = dataset.name
        if dataset.factor_space is None:
            raise ValueError(
                f"This method needs pairs that differ in k factors, and {name} has no known factors: use a dataset "
                "with factors, or an .npz with the arrays `images` and `factors`."
            )
        if self.same_class and dataset.label is None:
            raise ValueError(
                f"This method needs pairs of the same class, and {name} has no class labels: use a dataset with labels."
            )
        if dataset.instance is not None and dataset.combinations is not None:
            self._check_instances(dataset)
            return
        free = sum(self._free(dataset))
        if self.k < 0 or self.k > free or free == 0:
            raise ValueError(f"Pairs of {name} can change 1 to {free} factors; got k={self.k}.")
        if self.k and self.k_schedule is not None:
            raise ValueError(
                f"The number of changed factors is given twice, k={self.k} and {self.k_schedule}: leave one out."
            )
        if self.k_schedule is not None:
            ends = [float(self.k_schedule(torch.tensor(step)).round()) for step in (0, FOREVER)]
            if not all(1 <= end <= free for end in ends):
                raise ValueError(
                    f"Pairs of {name} can change 1 to {free} factors; got {self.k_schedule}, which goes from "
                    f"{ends[0]:g} to {ends[1]:g}."
                )

    def cuda_graph_unsupported(self, dataset: Dataset) -> str | None:
        """Why drawing these pairs cannot be part of a CUDA graph, or None if it can."""
        if dataset.instance is not None or dataset.factor_space is None or dataset.factor_space.is_product:
            return None
        return f"not every combination of factors occurs in {dataset.name}, and partners are found by trial"

    def _check_instances(self, dataset: Dataset) -> None:
        name, instance = dataset.name, dataset.instance
        if self.k or self.fixed_factors or self.k_schedule is not None or self.pair_rule != "exactly":
            raise ValueError(
                f"Pairs of {name} are two rows of the same {instance}, and the number of factors in which they differ "
                "is counted: leave out pair_rule, k, fixed_factors and k_schedule."
            )
        if dataset.instance_index.min_rows < 2:
            raise ValueError(
                f"Pairs of {name} are two rows of the same {instance}, and some {instance} has a single row: show "
                "each one at least twice, as two colorings do."
            )
        values = dataset.factors(dataset.instance_index.order)
        if self.same_class and values is not None:
            labels, _ = dataset.labels_and_nuisances(values)
            assert labels is not None and instance is not None and dataset.factor_space is not None
            instances = values[:, dataset.factor_space.column(instance)]
            if bool(((instances[1:] == instances[:-1]) & (labels[1:] != labels[:-1])).any()):
                raise ValueError(
                    f"This method needs pairs of the same class, and rows of {name} that show the same {instance} "
                    f"differ in their {dataset.label}."
                )

    def _free(self, dataset: Dataset) -> tuple[int, ...]:
        """1 for each factor that may change, 0 for the others."""
        space = dataset.factor_space
        assert space is not None
        fixed_names = (
            *self.fixed_factors,
            *dataset.hidden_nuisances,
            dataset.instance,
            dataset.label if self.same_class else None,
        )
        fixed = {space.column(name) for name in fixed_names if name is not None}
        return tuple(
            int(len(values) > 1 and column not in fixed)
            for column, values in enumerate(space.observed_values)
        )

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> PairBatch:
        space = dataset.factor_space
        assert space is not None
        rows = dataset.sample_indices(size, generator)
        values = dataset.factors(rows)
        assert values is not None
        if dataset.instance is not None and dataset.combinations is not None:
            rows2 = dataset.instance_index.sample_partner(rows, generator)
            partner = dataset.factors(rows2)
            assert partner is not None
            counted = tuple(int(name not in dataset.hidden_nuisances) for name in space.names)
            k = ((values != partner) & _on(values.device, counted).bool()).sum(1)
        else:
            k, partner = self._partners(space, self._free(dataset), values, generator, step)
            rows2 = dataset.indices_of(space.index(partner), generator)
        return PairBatch(
            dataset.observe(rows),
            dataset.observe(rows2),
            k,
            *dataset.labels_and_nuisances(values),
            values,
            partner,
            dataset.labels_and_nuisances(partner)[0],
        )

    def _partners(
        self,
        space: FactorSpace,
        free: tuple[int, ...],
        values: Int[Tensor, "b k"],
        generator: Generator,
        step: Tensor,
    ) -> tuple[Int[Tensor, " b"], Int[Tensor, "b k"]]:
        """The number of factors that each pair changes, and the factor values of the second observation."""
        k, changed = self._choose(free, len(values), generator, step)
        if space.is_product:
            return k, torch.where(changed, self._fresh(space, values, generator), values)
        # Combinations are missing or unequally likely: propose many candidates per row and choose one in proportion
        # to its weight. This equals sampling from the distribution up to about 1/CANDIDATES. Rows without a candidate
        # that occurs choose other factors to change.
        partner, open_rows = values.clone(), torch.arange(len(values), device=values.device)
        for _ in range(ROUNDS):
            repeated = values[open_rows].repeat_interleave(CANDIDATES, 0)
            proposal = torch.where(
                changed.repeat_interleave(CANDIDATES, 0), self._fresh(space, repeated, generator), repeated
            )
            weight = space.weight(space.index(proposal)).view(len(open_rows), CANDIDATES)
            u = torch.rand(weight.shape, generator=generator, device=values.device, dtype=torch.float64)
            best = (weight.log() - (-u.log()).log()).argmax(
                1
            )  # Gumbel-max: sampled in proportion to the weight
            chosen = torch.arange(len(open_rows), device=values.device) * CANDIDATES + best
            partner[open_rows] = proposal[chosen]
            open_rows = open_rows[~(weight > 0).any(1)]
            if len(open_rows) == 0:
                return k, partner
            k[open_rows], changed = self._choose(free, len(open_rows), generator, step)
        raise ValueError(
            f"Some combinations have no partner that differs in {self.pair_rule} {self.k or 'k'} factors within "
            "the dataset: allow more combinations, another k, or fewer fixed factors."
        )

    def _choose(
        self, free: tuple[int, ...], size: int, generator: Generator, step: Tensor
    ) -> tuple[Int[Tensor, " b"], Bool[Tensor, "b k"]]:
        """The number of factors that change in each pair, and which ones."""
        may_change, max_k = _on(generator.device, free).bool(), sum(free)
        k = 1 + (uniform(generator, size) * max(max_k - 1, 1)).long()
        if self.k:
            k = torch.full_like(k, self.k)
        if self.k_schedule is not None:
            k = self.k_schedule(step).round().long().expand(size)
        if self.pair_rule == "disentanglement-lib":
            k = torch.where(uniform(generator, size) < 0.5, 1, k)
        rank = uniform(generator, size, len(may_change)).masked_fill(~may_change, 2.0).argsort(1).argsort(1)
        return k, rank < k[:, None]

    def _fresh(
        self, space: FactorSpace, values: Int[Tensor, "b k"], generator: Generator
    ) -> Int[Tensor, "b k"]:
        """New values among those that occur; under `exactly`, different from the old ones."""
        return space.redraw(values, uniform(generator, *values.shape), other=self.pair_rule == "exactly")


def uniform(generator: Generator, *shape: int) -> Float[Tensor, "..."]:
    """Uniform random numbers in [0, 1) on the generator's device."""
    return torch.rand(*shape, generator=generator, device=generator.device)


@lru_cache(maxsize=64)
def _on(device: torch.device, numbers: tuple[int, ...]) -> Tensor:
    """Numbers as a tensor on the device; cached, because copying them makes the host wait."""
    return torch.tensor(numbers, device=device)
