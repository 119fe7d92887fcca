"""The codes of sets of augmentations, for metrics that compare dimensions within a set."""

import abc
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Generator

from unbraid.data import Dataset, SetDraw
from unbraid.evaluation.arrays import NotAvailable
from unbraid.methods import Method
from unbraid.seeds import derive_seed

SETS_PER_BATCH = 64
MAX_SETS = 1024  # sets of augmentations per sample


class SetCodes(abc.ABC):
    """A sample that also has the codes of augmentations of its observations."""

    method: Method
    dataset: Dataset
    size: int
    seed: int

    @property
    @abc.abstractmethod
    def _batch_size(self) -> int:
        """The number of observations that pass the network at once."""

    @property
    @abc.abstractmethod
    def _dimensions(self) -> list[int]:
        """The dimensions of the strand."""

    @cached_property
    def all_set_codes(self) -> Float[np.ndarray, "n m d"]:
        """The whole codes of the augmentations of each observation."""
        self._check_sets()
        device = self.method.step.device
        generator = Generator(device).manual_seed(derive_seed(self.seed, "evaluation sets"))
        draw, step = SetDraw(fresh_each_step=True), self.method.step
        batches = [SETS_PER_BATCH] * (min(self.size, MAX_SETS) // SETS_PER_BATCH) or [self.size]
        codes = []
        with torch.no_grad():
            for sets in batches:
                x = draw(self.dataset, sets, generator, step).x[:, 1:]  # without the observation itself
                parts = x.flatten(0, 1).split(self._batch_size)
                z = torch.cat([self.method.encode(part) for part in parts])
                codes.append(z.unflatten(0, x.shape[:2]).float().cpu())
        return torch.cat(codes).numpy()

    def _check_sets(self) -> None:
        try:
            SetDraw().check(self.dataset)
        except ValueError as error:
            raise NotAvailable(str(error)) from None

    @property
    def set_codes(self) -> Float[np.ndarray, "n m d"]:
        """The codes of the augmentations of each observation, in the dimensions of the strand."""
        return self.all_set_codes[:, :, self._dimensions]
