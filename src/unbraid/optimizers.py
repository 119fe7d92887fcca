"""Optimizers as settings: the algorithm and its numbers. The trainer builds the torch optimizer."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unbraid.settings import Spec


class Optimizer(Spec):
    """An optimization algorithm; the training's learning rate schedule multiplies `lr`.

    On a CUDA device `lr` is a tensor, so that a captured CUDA graph can change it.
    """

    lr: float

    def build(self, parameters: list[nn.Parameter], *, compiled: bool = False) -> torch.optim.Optimizer:
        """The torch optimizer, in its fastest implementation: fused, or foreach where the step is compiled."""
        raise NotImplementedError

    def _lr(self, parameters: list[nn.Parameter]) -> float | Tensor:
        if not _on_cuda(parameters):
            return self.lr
        return torch.tensor(self.lr, device=parameters[0].device)


def _on_cuda(parameters: list[nn.Parameter]) -> bool:
    return bool(parameters) and parameters[0].is_cuda


@dataclass(frozen=True)
class Adam(Optimizer):
    """Adam; with `weight_decay` above 0 the decay is decoupled (AdamW)."""

    lr: float = 1e-4  # Locatello et al., 2019, and most of this field
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    weight_decay: float = 0.0

    def build(self, parameters: list[nn.Parameter], *, compiled: bool = False) -> torch.optim.Optimizer:
        algorithm = torch.optim.AdamW if self.weight_decay else torch.optim.Adam
        return algorithm(
            parameters,
            lr=self._lr(parameters),
            betas=(self.beta1, self.beta2),
            eps=self.eps,
            weight_decay=self.weight_decay,
            fused=not compiled,
            foreach=compiled,
            capturable=_on_cuda(parameters),
        )


@dataclass(frozen=True)
class SGD(Optimizer):
    """Stochastic gradient descent with momentum."""

    lr: float = 1e-2
    momentum: float = 0.0
    weight_decay: float = 0.0

    def build(self, parameters: list[nn.Parameter], *, compiled: bool = False) -> torch.optim.Optimizer:
        return torch.optim.SGD(
            parameters,
            lr=self._lr(parameters),
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            fused=not compiled,
            foreach=compiled,
        )


@dataclass(frozen=True)
class RMSprop(Optimizer):
    """RMSprop, which some older baselines use."""

    lr: float = 1e-3
    alpha: float = 0.99
    eps: float = 1e-8

    def build(self, parameters: list[nn.Parameter], *, compiled: bool = False) -> torch.optim.Optimizer:
        return torch.optim.RMSprop(
            parameters,
            lr=self._lr(parameters),
            alpha=self.alpha,
            eps=self.eps,
            capturable=_on_cuda(parameters),
        )
