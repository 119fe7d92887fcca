"""A step of training as one CUDA graph: recorded once, then replayed without launching its kernels one by one."""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import torch
from torch import Generator

R = TypeVar("R")

WARM_UP = (
    3  # eager steps before the recording, in which libraries choose kernels and optimisers make their state
)


class Captured(Generic[R]):
    """Plays a step from a recording.

    The first steps are played eagerly, and count. What the step returns are the same tensors every time,
    filled anew by each replay. Whatever the step decides on the host is decided at the recording; when `key`
    says that it would decide otherwise, a new recording is made.

    Args:
        step: Draws, losses, gradients and updates of one step, without waiting for the device.
        device: The CUDA device.
        generators: Those that the step draws from, beside torch's default one.
    """

    def __init__(self, step: Callable[[], R], device: torch.device, generators: Sequence[Generator]) -> None:
        self._step, self._device, self._generators = step, device, generators
        self._key: Hashable = None
        self._played = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: R | None = None
        self._stream = torch.cuda.Stream(device)

    def __call__(self, key: Hashable = ()) -> R:
        if key != self._key:
            self._key, self._played, self._graph, self._result = key, 0, None, None
        if self._graph is None and self._played < WARM_UP:
            self._played += 1
            return self._play_eagerly()
        if self._graph is None:
            self._record()
        assert self._graph is not None and self._result is not None
        self._graph.replay()
        return self._result

    def _play_eagerly(self) -> R:
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            result = self._step()
        torch.cuda.current_stream(self._device).wait_stream(self._stream)
        return result

    def _record(self) -> None:
        self._graph = torch.cuda.CUDAGraph()
        for generator in self._generators:
            self._graph.register_generator_state(generator)
        with torch.cuda.graph(self._graph, stream=self._stream):
            self._result = self._step()
