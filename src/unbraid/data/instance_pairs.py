"""Pairs in datasets that show an instance several times, such as a digit in several colors.

Reconstruction for Disentanglement, Contrast for Invariance, 2022, can be read in two ways. "Choose another sample
according to v(m)" (Sec. 3.2) is another instance with the changed factors; Fig. 8, whose swapped images equal the
originals, shows one instance with other factors.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace


class SameInstancePairs(NamedTuple):
    """All ordered pairs of rows of one instance, sorted by the number of known factors in which they differ."""

    first: Int[Tensor, " p"]
    second: Int[Tensor, " p"]
    cumulative: Float[Tensor, " p"]  # sampling weights of the first rows, summed up
    end: Int[Tensor, " k"]  # for each number of factors, the index after its last pair

    @classmethod
    def of(cls, dataset: Dataset) -> "SameInstancePairs":
        index, space = dataset.instance_index, dataset.factor_space
        assert space is not None and dataset.combinations is not None
        values = space.values(dataset.combinations)
        columns = [column for column, name in enumerate(space.names) if name not in dataset.hidden_nuisances]
        rows, partners = [], []
        for step in range(1, int(index.count.max())):
            row = index.order[index.count[index.order] > step]
            partner = (index.position[row] - index.first[row] + step) % index.count[row]
            rows.append(row)
            partners.append(index.order[index.first[row] + partner])
        first, second = torch.cat(rows), torch.cat(partners)
        k = (values[first] != values[second])[:, columns].sum(1)
        k, order = k.sort(stable=True)
        first, second = first[order], second[order]
        end = torch.searchsorted(k, torch.arange(len(columns) + 1, device=k.device), right=True)
        return cls(first, second, space.weight(dataset.combinations[first]).cumsum(0), end)

    @property
    def differences(self) -> list[int]:
        """The numbers of factors in which some pair differs, without 0."""
        counts = self.end.diff(prepend=self.end.new_zeros(1))
        return [k for k, count in enumerate(counts.tolist()) if k and count]

    def sample(
        self, k: Int[Tensor, " b"], generator: Generator
    ) -> tuple[Int[Tensor, " b"], Int[Tensor, " b"]]:
        """Rows of pairs that differ in k factors, all such pairs equally likely unless their rows have weights."""
        start, end = self.end[k - 1], self.end[k]
        before = torch.where(start > 0, self.cumulative[start - 1], 0.0)
        total = self.cumulative[end - 1] - before
        u = torch.rand(k.shape, generator=generator, device=generator.device, dtype=torch.float64)
        pair = torch.searchsorted(self.cumulative, before + u * total, right=True)
        pair = torch.minimum(torch.maximum(pair, start), end - 1)
        return self.first[pair], self.second[pair]


class OtherInstances(NamedTuple):
    """Rows by the combination of all factors but the instance."""

    space: FactorSpace  # of these factors
    columns: tuple[int, ...]  # in the dataset's space
    instances: Int[Tensor, " rows"]
    num_instances: int  # values of the instance factor
    order: Int[Tensor, " n"]  # the rows that can be sampled, sorted by combination and then by instance
    key: Int[Tensor, " n"]  # combination · num_instances + instance, in that order
    cumulative: Float[Tensor, " n1"]  # sums of the sampling weights of the rows before each, and of all

    @classmethod
    def of(cls, dataset: Dataset) -> "OtherInstances":
        space = dataset.factor_space
        assert space is not None and dataset.combinations is not None and dataset.instance is not None
        values, instance = space.values(dataset.combinations), space.column(dataset.instance)
        columns = tuple(column for column in range(len(space.names)) if column != instance)
        sizes = {space.names[column]: space.sizes[column] for column in columns}
        rows, instances, count = dataset.indices(), values[:, instance], space.sizes[instance]
        combinations = FactorSpace(sizes).to(values.device).index(values[rows][:, list(columns)])
        key, order = (combinations * count + instances[rows]).sort(stable=True)
        weight = space.weight(dataset.combinations[rows[order]])
        support, group = combinations.unique(return_inverse=True)
        weights = None
        if space.weights is not None:
            weights = weight.new_zeros(len(support)).index_add_(0, group[order], weight)
        without = FactorSpace(sizes, support=support, weights=weights).to(values.device)
        cumulative = torch.cat([weight.new_zeros(1), weight.cumsum(0)])
        return cls(without, columns, instances, count, rows[order], key, cumulative)

    def sample(
        self, values: Int[Tensor, "b k"], rows: Int[Tensor, " b"], generator: Generator
    ) -> Int[Tensor, " b"]:
        """A row with these values for each of the rows, of another instance wherever there is one."""
        first_key = self.space.index(values) * self.num_instances
        own_key = first_key + self.instances[rows]
        start, end = (
            torch.searchsorted(self.key, key) for key in (first_key, first_key + self.num_instances)
        )
        own, own_end = (torch.searchsorted(self.key, own_key, right=right) for right in (False, True))
        alone = own_end - own == end - start
        own_end = torch.where(alone, own, own_end)  # then the only instance is its own partner
        left = self.cumulative[own_end] - self.cumulative[own]  # the weight that is left out
        total = self.cumulative[end] - self.cumulative[start] - left
        u = torch.rand(len(values), generator=generator, device=generator.device, dtype=torch.float64)
        target = self.cumulative[start] + u * total
        target = torch.where(target >= self.cumulative[own], target + left, target)
        found = torch.searchsorted(self.cumulative, target, right=True) - 1
        return self.order[torch.minimum(torch.maximum(found, start), end - 1)]


_same: WeakKeyDictionary[Dataset, SameInstancePairs] = WeakKeyDictionary()
_other: WeakKeyDictionary[Dataset, OtherInstances] = WeakKeyDictionary()


def same_instance_pairs(dataset: Dataset) -> SameInstancePairs:
    """The pairs of a dataset, computed once."""
    if dataset not in _same:
        _same[dataset] = SameInstancePairs.of(dataset)
    return _same[dataset]


def other_instances(dataset: Dataset) -> OtherInstances:
    """The rows of a dataset by their factors, computed once."""
    if dataset not in _other:
        _other[dataset] = OtherInstances.of(dataset)
    return _other[dataset]
