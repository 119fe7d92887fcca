"""Schedules: numbers that change with the step of training, as plain data."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.settings import Plain
from unbraid.types import Scalar


class Schedule(Plain):
    """A number for every step; called with the step as a tensor, so that no step waits for the host."""

    def __call__(self, step: Tensor) -> Scalar:
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Schedule):
    """The same value at every step."""

    value: float

    def __call__(self, step: Tensor) -> Scalar:
        return torch.full((), float(self.value), device=step.device)


@dataclass(frozen=True)
class Linear(Schedule):
    """From start to end in a straight line over the first steps, then end."""

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        _require_steps(self.steps)

    def __call__(self, step: Tensor) -> Scalar:
        return self.start + (self.end - self.start) * (step.float() / self.steps).clamp(max=1.0)


@dataclass(frozen=True)
class Cosine(Schedule):
    """From start to end along half a cosine over the first steps, then end."""

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        _require_steps(self.steps)

    def __call__(self, step: Tensor) -> Scalar:
        progress = (step.float() / self.steps).clamp(max=1.0)
        return self.end + (self.start - self.end) * (1 + (math.pi * progress).cos()) / 2


@dataclass(frozen=True)
class Geometric(Schedule):
    """From start to end by equal factors over the first steps, then end; both above 0."""

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        _require_steps(self.steps)
        if not (0 < self.start < math.inf and 0 < self.end < math.inf):
            raise ValueError(f"A geometric schedule needs ends above 0; got {self.start} and {self.end}.")

    def __call__(self, step: Tensor) -> Scalar:
        progress = (step.float() / self.steps).clamp(max=1.0)
        return (math.log(self.start) + math.log(self.end / self.start) * progress).exp()


@dataclass(frozen=True)
class Peak(Schedule):
    """From start to top in a straight line over the first `rise` steps, there until a later step, and then end."""

    start: float
    top: float
    rise: int
    until: int
    end: float

    def __post_init__(self) -> None:
        _require_steps(self.rise)
        if self.until <= self.rise:
            raise ValueError(
                f"A peak must last beyond step {self.rise}, where it reaches its top; got until step {self.until}."
            )

    def __call__(self, step: Tensor) -> Scalar:
        rising = Linear(self.start, self.top, self.rise)(step)
        return torch.where(step < self.until, rising, self.end)


@dataclass(frozen=True)
class Drop(Schedule):
    """Start, multiplied by factor each time another `every` steps have passed."""

    start: float
    factor: float
    every: int

    def __post_init__(self) -> None:
        _require_steps(self.every)

    def __call__(self, step: Tensor) -> Scalar:
        return self.start * self.factor ** (step // self.every).float()


def _require_steps(steps: int) -> None:
    if steps < 1:
        raise ValueError(f"A schedule needs at least 1 step; got {steps}.")
