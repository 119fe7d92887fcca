"""Lookup of table rows by the factor combination that they show."""

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from unbraid.data.factors import FactorSpace


class RowIndex:
    """Finds and samples rows by factor combination, without synchronizing with the device.

    Args:
        combinations: The combination number of each row.
        space: The factor space, whose weights determine the sampling probability of each row.
    """

    def __init__(self, combinations: Int[Tensor, " n"], space: FactorSpace) -> None:
        self.order = combinations.argsort(stable=True)
        self.sorted_combinations = combinations[self.order]
        self.weight = space.weight(combinations)
        is_weighted = bool((self.weight != self.weight[0]).any())
        self.cumulative = self.weight.cumsum(0) if is_weighted else None  # None: all rows are equally likely

    def observed(self) -> Int[Tensor, " m"]:
        """The rows whose combination has a weight above 0, in order."""
        return self.weight.nonzero()[:, 0]

    def sample(self, size: int, generator: Generator) -> Int[Tensor, " b"]:
        """Rows sampled independently, in proportion to the weights of their combinations."""
        device = generator.device
        if self.cumulative is None:
            return torch.randint(len(self.order), (size,), generator=generator, device=device)
        u = torch.rand(size, generator=generator, device=device, dtype=torch.float64)
        index = torch.searchsorted(self.cumulative, u * self.cumulative[-1], right=True)
        return index.clamp(max=len(self.cumulative) - 1)

    def sample_with(self, combinations: Int[Tensor, " b"], generator: Generator) -> Int[Tensor, " b"]:
        """A random row for each of the combinations; all rows with this combination are equally likely."""
        first = torch.searchsorted(self.sorted_combinations, combinations)
        count = torch.searchsorted(self.sorted_combinations, combinations, right=True) - first
        u = torch.rand(len(combinations), generator=generator, device=generator.device)
        return self.order[(first + (u * count).long()).clamp(max=len(self.order) - 1)]
