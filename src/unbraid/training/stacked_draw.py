"""Batches of several trainings of one kind, stacked: each training draws its own, from its own generator."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor
from torch.utils._pytree import tree_leaves

from unbraid.data import Dataset, Draw
from unbraid.training.member_noise import MemberNoise, map_models, split_tensors
from unbraid.training.stacked_step import stack_batches


class StackedDraw:
    """Draws the batches of all trainings, as one where that gives the same batches.

    Args:
        draws: How each training samples its batches.
        datasets: The training data of each.
        batch_size: Observations or pairs per batch of one training.
        generators: The trainings' generators of their draws.
        steps: The trainings' step counters, stacked; they are read at every draw.
        same_data: Whether all trainings have the same data, and not a split of their own.
    """

    def __init__(
        self,
        draws: Sequence[Draw],
        datasets: Sequence[Dataset],
        batch_size: int,
        generators: Sequence[Generator],
        steps: Tensor,
        *,
        same_data: bool,
    ) -> None:
        self.draws, self.datasets, self.batch_size = draws, datasets, batch_size
        self.generators, self.steps = generators, steps
        self._numbers = torch.arange(len(draws), device=steps.device)
        self._any = Generator(steps.device)  # stands for the generator of whichever training
        self.vectorized = same_data and self._agrees()

    def __call__(self) -> Any:
        return self._together() if self.vectorized else stack_batches(self.one_by_one())

    def one_by_one(self) -> list[Any]:
        """The batch of each training."""
        arguments = zip(self.draws, self.datasets, self.generators, self.steps, strict=True)
        return [
            draw(dataset, self.batch_size, generator, step) for draw, dataset, generator, step in arguments
        ]

    def _together(self) -> Any:
        """All batches by one call: random numbers are drawn per training, everything else is done once for all."""
        found: list[Any] = []

        def of_one(step: Tensor, number: Tensor) -> tuple[Tensor, ...]:
            with MemberNoise({self._any: self.generators}, number):
                tensors, rebuild = split_tensors(
                    self.draws[0](self.datasets[0], self.batch_size, self._any, step)
                )
            found.append(rebuild)
            return tuple(tensors)

        tensors = map_models(of_one, self.steps, self._numbers)
        return found[0](tensors)

    def _agrees(self) -> bool:
        """Whether one call gives every training the batch that it draws by itself; tried on the next batch."""
        states = [generator.get_state() for generator in self.generators]
        try:
            expected = stack_batches(self.one_by_one())
            _restore(self.generators, states)
            batch = self._together()
        except Exception:  # a draw that reads numbers on the host, for example
            return False
        finally:
            _restore(self.generators, states)
        pairs = zip(tree_leaves(expected), tree_leaves(batch), strict=True)
        return all(torch.equal(a, b) if isinstance(a, Tensor) else a == b for a, b in pairs)


def _restore(generators: Sequence[Generator], states: Sequence[Tensor]) -> None:
    for generator, state in zip(generators, states, strict=True):
        generator.set_state(state)
