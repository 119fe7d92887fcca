"""Optimisers as plain data: which rule, at which rate; the loop makes the real one."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unbraid.settings import Plain


class Optimiser(Plain):
    """A rule of descent; its `rate` is scaled by the training's rate schedule.

    On a CUDA device the rate is a tensor there, so that a recorded step can change it.
    """

    rate: float

    def make(self, parameters: list[nn.Parameter], *, compiled: bool = False) -> torch.optim.Optimizer:
        """The optimiser itself, in the form that is fastest as it is or compiled."""
        raise NotImplementedError

    def _rate(self, parameters: list[nn.Parameter]) -> float | Tensor:
        if not _on_cuda(parameters):
            return self.rate
        return torch.tensor(self.rate, device=parameters[0].device)


def _on_cuda(parameters: list[nn.Parameter]) -> bool:
    return bool(parameters) and parameters[0].is_cuda


@dataclass(frozen=True)
class Adam(Optimiser):
    """Adam, fused; with `decay` above 0 decoupled weight decay (AdamW)."""

    rate: float = 1e-4  # Locatello et al., 2019, and most of this field
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    decay: float = 0.0

    def make(self, parameters: list[nn.Parameter], *, compiled: bool = False) -> torch.optim.Optimizer:
        rule = torch.optim.AdamW if self.decay else torch.optim.Adam
        return rule(
            parameters,
            lr=self._rate(parameters),
            betas=(self.beta1, self.beta2),
            eps=self.eps,
            weight_decay=self.decay,
            fused=not compiled,
            foreach=compiled,
            capturable=_on_cuda(parameters),
        )


@dataclass(frozen=True)
class SGD(Optimiser):
    """Stochastic gradient descent, with momentum."""

    rate: float = 1e-2
    momentum: float = 0.0
    decay: float = 0.0

    def make(self, parameters: list[nn.Parameter], *, compiled: bool = False) -> torch.optim.Optimizer:
        return torch.optim.SGD(
            parameters,
            lr=self._rate(parameters),
            momentum=self.momentum,
            weight_decay=self.decay,
            fused=not compiled,
            foreach=compiled,
        )


@dataclass(frozen=True)
class RMSprop(Optimiser):
    """RMSprop, as some of the older baselines have it."""

    rate: float = 1e-3
    smoothing: float = 0.99
    eps: float = 1e-8

    def make(self, parameters: list[nn.Parameter], *, compiled: bool = False) -> torch.optim.Optimizer:
        return torch.optim.RMSprop(
            parameters,
            lr=self._rate(parameters),
            alpha=self.smoothing,
            eps=self.eps,
            capturable=_on_cuda(parameters),
        )
