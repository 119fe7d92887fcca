"""A CUDA stream and a noise generator per training, so that several trainings share one device."""

from types import TracebackType

import torch
from torch import Generator


class OwnStream:
    """Within this context, kernels run on one training's own stream and draw from its own default generator.

    On a CPU, which has no streams, only the generator is the training's own.

    Args:
        device: The device.
    """

    def __init__(self, device: torch.device) -> None:
        self.noise = Generator(device)
        self.stream = torch.cuda.Stream(device) if device.type == "cuda" else None

    def seed(self, seed: int) -> None:
        """Seeds the generator, within this context."""
        self.noise.manual_seed(seed)
        if self.stream is None:
            torch.set_rng_state(self.noise.get_state())

    def __enter__(self) -> None:
        if self.stream is None:
            self._outside = torch.get_rng_state()
            torch.set_rng_state(self.noise.get_state())
            return
        self._default = torch.cuda.default_generators[torch.cuda.current_device()]
        self._previous = self._default.graphsafe_get_state()
        self._default.graphsafe_set_state(self.noise)
        self._context = torch.cuda.stream(self.stream)
        self._context.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.stream is None:
            self.noise.set_state(torch.get_rng_state())
            torch.set_rng_state(self._outside)
            return
        try:
            self._context.__exit__(kind, error, trace)
        finally:
            self._default.graphsafe_set_state(self._previous)
