"""Schedules: numbers as functions of the training step."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.settings import Spec
from unbraid.types import Scalar


class Schedule(Spec):
    """A number as a function of the step. The step is a tensor, so that the device never waits for the host."""

    def __call__(self, step: Tensor) -> Scalar:
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Schedule):
    """The same value at every step."""

    value: float

    def __call__(self, step: Tensor) -> Scalar:
        return torch.full((), float(self.value), device=step.device)


@dataclass(frozen=True)
class _Ramp(Schedule):
    """From `start` to `end` over the first `steps` steps, then `end`."""

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        _require_steps(self.steps)

    def progress(self, step: Tensor) -> Scalar:
        """The fraction of the steps that is done, at most 1."""
        return (step.float() / self.steps).clamp(max=1.0)


@dataclass(frozen=True)
class Linear(_Ramp):
    """Linear from `start` to `end` over the first `steps` steps, then `end`."""

    def __call__(self, step: Tensor) -> Scalar:
        return self.start + (self.end - self.start) * self.progress(step)


@dataclass(frozen=True)
class Cosine(_Ramp):
    """Half a cosine from `start` to `end` over the first `steps` steps, then `end`."""

    def __call__(self, step: Tensor) -> Scalar:
        return self.end + (self.start - self.end) * (1 + (math.pi * self.progress(step)).cos()) / 2


@dataclass(frozen=True)
class Exponential(_Ramp):
    """Exponential (geometric) from `start` to `end` over the first `steps` steps, then `end`; both must be above 0."""

    also_accept = ("geometric",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 < self.start < math.inf and 0 < self.end < math.inf):
            raise ValueError(
                f"An exponential schedule requires start and end above 0; got {self.start} and {self.end}."
            )

    def __call__(self, step: Tensor) -> Scalar:
        return (math.log(self.start) + math.log(self.end / self.start) * self.progress(step)).exp()


@dataclass(frozen=True)
class WarmupHold(Schedule):
    """Linear from `start` to `peak` over the first `warmup_steps` steps, constant until `hold_until`, then `end`."""

    spec_name = "warmup-hold"
    also_accept = ("peak",)

    start: float
    peak: float
    warmup_steps: int
    hold_until: int
    end: float

    def __post_init__(self) -> None:
        _require_steps(self.warmup_steps)
        if self.hold_until <= self.warmup_steps:
            raise ValueError(
                f"hold_until must be after step {self.warmup_steps}, where the schedule reaches its peak; got step "
                f"{self.hold_until}."
            )

    def __call__(self, step: Tensor) -> Scalar:
        warmup = Linear(self.start, self.peak, self.warmup_steps)(step)
        return torch.where(step < self.hold_until, warmup, self.end)


@dataclass(frozen=True)
class StepDecay(Schedule):
    """`start`, multiplied by `factor` after each `every` steps."""

    spec_name = "step"
    also_accept = ("drop",)

    start: float
    factor: float
    every: int

    def __post_init__(self) -> None:
        _require_steps(self.every)

    def __call__(self, step: Tensor) -> Scalar:
        return self.start * self.factor ** (step // self.every).float()


def _require_steps(steps: int) -> None:
    if steps < 1:
        raise ValueError(f"A schedule must last at least 1 step; got {steps}.")
