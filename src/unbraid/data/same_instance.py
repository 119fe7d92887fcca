"""Instances: objects that several rows show, such as one digit in several colors."""

from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Generator, Tensor


class InstanceIndex(NamedTuple):
    """Rows grouped by instance, so that partners are sampled without synchronizing with the device."""

    order: Int[Tensor, " n"]  # the rows that can be sampled, sorted by instance
    position: Int[Tensor, " rows"]  # index of each row in that order
    first: Int[Tensor, " rows"]  # index at which each row's instance begins
    count: Int[Tensor, " rows"]  # number of rows of that instance

    @classmethod
    def of(cls, instances: Int[Tensor, " rows"], sampled: Int[Tensor, " n"]) -> "InstanceIndex":
        """An index from the instance of every row and the rows that can be sampled."""
        instances = instances.contiguous()
        order = sampled[instances[sampled].argsort(stable=True)]
        sorted_instances = instances[order]
        first = torch.searchsorted(sorted_instances, instances)
        count = torch.searchsorted(sorted_instances, instances, right=True) - first
        position = torch.zeros_like(instances)
        position[order] = torch.arange(len(order), device=order.device)
        return cls(order, position, first, count)

    def sample_partner(self, rows: Int[Tensor, " b"], generator: Generator) -> Int[Tensor, " b"]:
        """A random other row of the same instance for each row; the only row of an instance is its own partner."""
        first, count = self.first[rows], self.count[rows]
        u = torch.rand(len(rows), generator=generator, device=generator.device)
        step = 1 + (u * (count - 1)).long()
        return self.order[first + (self.position[rows] - first + step) % count]

    @property
    def min_rows(self) -> int:
        """The smallest number of rows per instance."""
        return int(self.count[self.order].min())


def random_split(
    values: Int[Tensor, " n"], fraction: float, generator: Generator
) -> tuple[Int[Tensor, " kept"], Int[Tensor, " held_out"]]:
    """A random split of the values in two parts, both in ascending order; the second has the given fraction of them."""
    if not 0 < fraction < 1:
        raise ValueError(f"A split needs a fraction between 0 and 1; got {fraction}.")
    count = round(fraction * len(values))
    if not 0 < count < len(values):
        raise ValueError(f"A fraction of {fraction} of {len(values)} leaves one split empty.")
    order = torch.randperm(len(values), generator=generator, device=generator.device).to(values.device)
    return values[order[count:].sort().values], values[order[:count].sort().values]
