"""The codes of observations with noise, for metrics that compare dimensions with what noise gives them."""

import abc
from collections.abc import Callable
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Generator, Tensor

from unbraid.methods import Method
from unbraid.metrics import NOISE
from unbraid.seeds import derive_seed


class NoisyCodes(abc.ABC):
    """A sample that also has the codes of its observations with noise."""

    method: Method
    seed: int

    @abc.abstractmethod
    def map_batches(self, function: Callable[[Tensor, Tensor | None], Tensor]) -> np.ndarray:
        """Applies a function of observations and condition to batches and concatenates the results."""

    @property
    @abc.abstractmethod
    def _dimensions(self) -> list[int]:
        """The dimensions of the strand."""

    @cached_property
    def all_noisy_codes(self) -> Float[np.ndarray, "n d"]:
        """The whole codes of the observations with Gaussian noise."""
        device = self.method.step.device
        source = Generator(device).manual_seed(derive_seed(self.seed, "noisy codes"))

        def encode(x: Tensor, condition: Tensor | None) -> Tensor:
            noise = torch.randn(x.shape, generator=source, device=device)
            return self.method.encode(x + NOISE * noise, condition)

        return self.map_batches(encode)

    @property
    def noisy_codes(self) -> Float[np.ndarray, "n d"]:
        """The codes of the observations with Gaussian noise, in the dimensions of the strand."""
        return self.all_noisy_codes[:, self._dimensions]
