"""Instances: rows that show the same thing, such as one written digit in several colours."""

from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Generator, Tensor


class Kin(NamedTuple):
    """Which rows show the same instance, in a form that is drawn from without waiting for the device."""

    order: Int[Tensor, " n"]  # the rows that can be drawn, ordered by their instance
    place: Int[Tensor, " rows"]  # of each row in that order
    first: Int[Tensor, " rows"]  # where each row's instance begins in it
    count: Int[Tensor, " rows"]  # how many rows show that instance

    @classmethod
    def of(cls, instances: Int[Tensor, " rows"], drawn: Int[Tensor, " n"]) -> "Kin":
        """From the instance of every row, and the rows that can be drawn."""
        instances = instances.contiguous()
        order = drawn[instances[drawn].argsort(stable=True)]
        ordered = instances[order]
        first = torch.searchsorted(ordered, instances)
        count = torch.searchsorted(ordered, instances, right=True) - first
        place = torch.zeros_like(instances)
        place[order] = torch.arange(len(order), device=order.device)
        return cls(order, place, first, count)

    def siblings(self, rows: Int[Tensor, " b"], generator: Generator) -> Int[Tensor, " b"]:
        """For each row another one of its instance, all of them equally often; itself where it is alone."""
        first, count = self.first[rows], self.count[rows]
        u = torch.rand(len(rows), generator=generator, device=generator.device)
        step = 1 + (u * (count - 1)).long()
        return self.order[first + (self.place[rows] - first + step) % count]

    @property
    def fewest(self) -> int:
        """How many rows the instance with the fewest of them has."""
        return int(self.count[self.order].min())


def parts(
    numbers: Int[Tensor, " n"], fraction: float, generator: Generator
) -> tuple[Int[Tensor, " kept"], Int[Tensor, " held_out"]]:
    """Numbers dealt out at random into two parts, each in order; the second has the given fraction."""
    if not 0 < fraction < 1:
        raise ValueError(f"A split needs a fraction between 0 and 1; got {fraction}.")
    count = round(fraction * len(numbers))
    if not 0 < count < len(numbers):
        raise ValueError(f"A fraction of {fraction} of {len(numbers)} leaves nothing in one part.")
    order = torch.randperm(len(numbers), generator=generator, device=generator.device).to(numbers.device)
    return numbers[order[count:].sort().values], numbers[order[:count].sort().values]
