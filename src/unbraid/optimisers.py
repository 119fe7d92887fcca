"""Optimisers as plain data: which rule, at which rate; the loop makes the real one."""

from dataclasses import dataclass

import torch
from torch import nn

from unbraid.settings import Plain


class Optimiser(Plain):
    """A rule of descent; its `rate` is scaled by the training's rate schedule."""

    rate: float

    def make(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        raise NotImplementedError


@dataclass(frozen=True)
class Adam(Optimiser):
    """Adam, fused; with `decay` above 0 decoupled weight decay (AdamW)."""

    rate: float = 1e-4  # Locatello et al., 2019, and most of this field
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    decay: float = 0.0

    def make(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        rule = torch.optim.AdamW if self.decay else torch.optim.Adam
        betas = (self.beta1, self.beta2)
        return rule(parameters, lr=self.rate, betas=betas, eps=self.eps, weight_decay=self.decay, fused=True)


@dataclass(frozen=True)
class SGD(Optimiser):
    """Stochastic gradient descent, with momentum."""

    rate: float = 1e-2
    momentum: float = 0.0
    decay: float = 0.0

    def make(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.SGD(
            parameters, lr=self.rate, momentum=self.momentum, weight_decay=self.decay, fused=True
        )


@dataclass(frozen=True)
class RMSprop(Optimiser):
    """RMSprop, as some of the older baselines have it."""

    rate: float = 1e-3
    smoothing: float = 0.99
    eps: float = 1e-8

    def make(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.RMSprop(parameters, lr=self.rate, alpha=self.smoothing, eps=self.eps)
