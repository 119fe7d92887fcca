"""A training step as one CUDA graph: captured once, then replayed without launching its kernels one by one."""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import torch
from torch import Generator, Tensor

from unbraid.data import ChecksCUDAGraph, Dataset, Draw
from unbraid.methods import Method

R = TypeVar("R")

# Eager steps before the capture, in which libraries choose kernels and optimizers create their state.
WARMUP_STEPS = 3


class CaptureError(RuntimeError):
    """A step cannot be captured. Nothing has run: weights, optimizers and generators are those of before."""


class CUDAGraphStep(Generic[R]):
    """Runs a step by replaying a captured graph.

    The first steps run eagerly, and count. The step returns the same tensors every time, filled anew by each replay.
    What the step decides on the host is decided at the capture. Another `key` means another decision, and the step is
    captured again.

    Args:
        step: Draws, losses, gradients and updates of one step, without waiting for the device.
        device: The CUDA device.
        generators: The generators that the step draws from, besides torch's default generator.
    """

    def __init__(self, step: Callable[[], R], device: torch.device, generators: Sequence[Generator]) -> None:
        self._step, self._device, self._generators = step, device, generators
        self._key: Hashable = None
        self._eager_runs = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: R | None = None
        self._stream = torch.cuda.Stream(device)

    def __call__(self, key: Hashable = ()) -> R:
        if key != self._key:
            self._key, self._eager_runs, self._graph, self._result = key, 0, None, None
        if self._graph is None and self._eager_runs < WARMUP_STEPS:
            self._eager_runs += 1
            return self._run_eagerly()
        if self._graph is None:
            self._capture()
        assert self._graph is not None and self._result is not None
        self._graph.replay()
        return self._result

    def _run_eagerly(self) -> R:
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            result = self._step()
        torch.cuda.current_stream(self._device).wait_stream(self._stream)
        return result

    def _capture(self) -> None:
        self._graph = torch.cuda.CUDAGraph()
        for generator in self._generators:
            self._graph.register_generator_state(generator)
        try:
            with torch.cuda.graph(self._graph, stream=self._stream):
                self._result = self._step()
        except RuntimeError as error:
            raise CaptureError(str(error)) from error


def cuda_graph_unsupported(method: Method, draw: Draw, dataset: Dataset, device: torch.device) -> str | None:
    """Why steps cannot run as a CUDA graph: the method, its draw or its data needs the host in every step."""
    if isinstance(dataset.source, Tensor) and dataset.source.device != device:
        return "the observations do not fit on the device"
    checks = (part for part in (method, draw) if isinstance(part, ChecksCUDAGraph))
    return next((reason for part in checks if (reason := part.cuda_graph_unsupported(dataset))), None)
