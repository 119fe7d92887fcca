"""The draw of pairs: two observations that differ in k factors."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.instance_pairs import other_instances, same_instance_pairs
from unbraid.schedules import Schedule
from unbraid.types import PairBatch

PairRule = Literal["exactly", "at-most", "disentanglement-lib"]
Partner = Literal["same-instance", "other-instance"]
FOREVER = 2**31  # a step by which every schedule has ended
ROUNDS = 100  # attempts to find a partner for every row
CANDIDATES = 512  # partners proposed per row in each attempt


@dataclass(frozen=True)
class PairDraw:
    """Two observations that differ in k factors.

    If several rows show one instance, such as a digit in several colors, `partner` says whether both observations show
    it. Hidden nuisances never count: rows of one instance may differ in them, other pairs share them.

    Args:
        pair_rule: `exactly`: k factors take other values. `at-most`: k factors are redrawn and may keep their value
            (Locatello et al., 2020). `disentanglement-lib`: one factor or k factors, with equal probability, are
            redrawn, as in the code of disentanglement_lib.
        k: Number of factors that change; 0 draws it for each pair, from 1 to one less than can change, or counts it in
            two random rows of one instance.
        fixed_factors: Names of factors that never change within a pair.
        k_schedule: Schedule of k, rounded, in place of k, such as linear:1:3:150000 (warm-up by difficulty, SW-VAE).
            Both ends must be from 1 to the number of factors that can change.
        partner: Second observation in datasets with instances. `same-instance`: another row of the instance, such as a
            digit in other colors; with k or k_schedule, pairs that differ in k factors. `other-instance`: a row of
            another instance that has k factors changed and all others equal, such as another digit of the class.
        same_class: Both observations have the same class, as methods need that swap the class strand.
    """

    pair_rule: PairRule = "exactly"
    k: int = 0
    fixed_factors: tuple[str, ...] = ()
    k_schedule: Schedule | None = None
    partner: Partner = "same-instance"
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
        if self.k and self.k_schedule is not None:
            raise ValueError(
                f"The number of changed factors is given twice, k={self.k} and {self.k_schedule}: leave one out."
            )
        if self._of_one_instance(dataset):
            self._check_instances(dataset)
            return
        if self.partner == "other-instance" and not _has_instances(dataset):
            raise ValueError(
                f"partner=other-instance requires a dataset in which several rows show one instance, and {name} has "
                "none: leave it out."
            )
        free = sum(self._free(dataset, self._space(dataset)))
        if self.k < 0 or self.k > free or free == 0:
            raise ValueError(f"Pairs of {name} can change 1 to {free} factors; got k={self.k}.")
        if self.k_schedule is not None and not all(1 <= end <= free for end in self._ends):
            raise ValueError(
                f"Pairs of {name} can change 1 to {free} factors; got {self.k_schedule}, which goes from "
                f"{self._ends[0]:g} to {self._ends[1]:g}."
            )

    @property
    def _ends(self) -> tuple[float, ...]:
        """The first and the last value of the schedule of k."""
        assert self.k_schedule is not None
        return tuple(float(self.k_schedule(torch.tensor(step)).round()) for step in (0, FOREVER))

    def cuda_graph_unsupported(self, dataset: Dataset) -> str | None:
        """Why drawing these pairs cannot be part of a CUDA graph, or None if it can."""
        if dataset.factor_space is None or self._of_one_instance(dataset) or self._space(dataset).is_product:
            return None
        return f"not every combination of factors occurs in {dataset.name}, and partners are found by trial"

    def _check_instances(self, dataset: Dataset) -> None:
        name, instance = dataset.name, dataset.instance
        if self.fixed_factors or self.pair_rule != "exactly":
            raise ValueError(
                f"Pairs of {name} are two rows of the same {instance}, whose factors are what they are: leave out "
                "pair_rule and fixed_factors, or pass partner=other-instance."
            )
        if dataset.instance_index.min_rows < 2:
            raise ValueError(
                f"Pairs of {name} are two rows of the same {instance}, and some {instance} has a single row: show "
                "each one at least twice, as two colorings do."
            )
        if self.k or self.k_schedule is not None:
            asked = (float(self.k),) if self.k else self._ends
            possible = same_instance_pairs(dataset).differences
            if not _all_occur(asked, possible):
                raise ValueError(
                    f"Two rows of {name} that show the same {instance} differ in {_either(possible)} factors; got "
                    f"{self.k_schedule or f'k={self.k}'}."
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

    def _of_one_instance(self, dataset: Dataset) -> bool:
        """Whether both observations show one instance."""
        return _has_instances(dataset) and self.partner == "same-instance"

    def _space(self, dataset: Dataset) -> FactorSpace:
        """The factors in which a pair can differ, and those that it shares: all but the instance of stored rows."""
        assert dataset.factor_space is not None
        return other_instances(dataset).space if _has_instances(dataset) else dataset.factor_space

    def _free(self, dataset: Dataset, space: FactorSpace) -> tuple[int, ...]:
        """1 for each factor of the space that may change, 0 for the others."""
        fixed_names = (
            *self.fixed_factors,
            *dataset.hidden_nuisances,
            dataset.instance if dataset.instance in space.names else None,
            dataset.label if self.same_class else None,
        )
        fixed = {space.column(name) for name in fixed_names if name is not None}
        return tuple(
            int(len(values) > 1 and column not in fixed)
            for column, values in enumerate(space.observed_values)
        )

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> PairBatch:
        rows = dataset.sample_indices(size, generator)
        if self._of_one_instance(dataset):
            rows, rows2, k = self._rows_of_one_instance(dataset, rows, generator, step)
        else:
            rows2, k = self._rows_that_differ(dataset, rows, generator, step)
        values, partner = dataset.factors(rows), dataset.factors(rows2)
        return PairBatch(
            dataset.observe(rows),
            dataset.observe(rows2),
            k,
            *dataset.labels_and_nuisances(values),
            values,
            partner,
            dataset.labels_and_nuisances(partner)[0],
        )

    def _rows_of_one_instance(
        self, dataset: Dataset, rows: Int[Tensor, " b"], generator: Generator, step: Tensor
    ) -> tuple[Int[Tensor, " b"], Int[Tensor, " b"], Int[Tensor, " b"]]:
        """Two rows of one instance for each pair, and the number of known factors in which they differ."""
        if self.k or self.k_schedule is not None:
            k = (
                torch.full_like(rows, self.k)
                if self.k_schedule is None
                else self._scheduled_k(step, len(rows))
            )
            return *same_instance_pairs(dataset).sample(k, generator), k
        rows2 = dataset.instance_index.sample_partner(rows, generator)
        values, partner = dataset.factors(rows), dataset.factors(rows2)
        assert values is not None and partner is not None and dataset.factor_space is not None
        counted = tuple(int(name not in dataset.hidden_nuisances) for name in dataset.factor_space.names)
        return rows, rows2, ((values != partner) & _on(values.device, counted).bool()).sum(1)

    def _rows_that_differ(
        self, dataset: Dataset, rows: Int[Tensor, " b"], generator: Generator, step: Tensor
    ) -> tuple[Int[Tensor, " b"], Int[Tensor, " b"]]:
        """The row of the second observation of each pair, and the number of factors that change."""
        space, values = self._space(dataset), dataset.factors(rows)
        assert values is not None
        if not _has_instances(dataset):
            k, partner = self._partners(space, self._free(dataset, space), values, generator, step)
            return dataset.indices_of(space.index(partner), generator), k
        others = other_instances(dataset)
        values = values.index_select(1, _on(values.device, others.columns))
        k, partner = self._partners(space, self._free(dataset, space), values, generator, step)
        return others.sample(partner, rows, generator), k

    def _scheduled_k(self, step: Tensor, size: int) -> Int[Tensor, " b"]:
        assert self.k_schedule is not None
        return self.k_schedule(step).round().long().expand(size)

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
            k = self._scheduled_k(step, size)
        if self.pair_rule == "disentanglement-lib":
            k = torch.where(uniform(generator, size) < 0.5, 1, k)
        rank = uniform(generator, size, len(may_change)).masked_fill(~may_change, 2.0).argsort(1).argsort(1)
        return k, rank < k[:, None]

    def _fresh(
        self, space: FactorSpace, values: Int[Tensor, "b k"], generator: Generator
    ) -> Int[Tensor, "b k"]:
        """New values among those that occur; under `exactly`, different from the old ones."""
        return space.redraw(values, uniform(generator, *values.shape), other=self.pair_rule == "exactly")


def _has_instances(dataset: Dataset) -> bool:
    """Whether several rows of a stored dataset may show one instance."""
    return dataset.instance is not None and dataset.combinations is not None


def _all_occur(ends: tuple[float, ...], numbers: list[int]) -> bool:
    """Whether the ends of a schedule, and all whole numbers between them, are among the numbers."""
    if not all(end in numbers for end in ends):
        return False
    return set(range(int(min(ends)), int(max(ends)) + 1)) <= set(numbers)


def _either(numbers: list[int]) -> str:
    return " or ".join(map(str, numbers)) or "no"


def uniform(generator: Generator, *shape: int) -> Float[Tensor, "..."]:
    """Uniform random numbers in [0, 1) on the generator's device."""
    return torch.rand(*shape, generator=generator, device=generator.device)


@lru_cache(maxsize=64)
def _on(device: torch.device, numbers: tuple[int, ...]) -> Tensor:
    """Numbers as a tensor on the device; cached, because copying them makes the host wait."""
    return torch.tensor(numbers, device=device)
