"""A CUDA stream and a noise generator per training, so that several trainings share one device."""

from types import TracebackType

import torch
from torch import Generator


class OwnStream:
    """Within this context, kernels run on one training's own stream and draw from its own default generator.

    Args:
        device: The CUDA device.
    """

    def __init__(self, device: torch.device) -> None:
        self.noise = Generator(device)
        self._stream = torch.cuda.Stream(device)

    def __enter__(self) -> None:
        self._default = torch.cuda.default_generators[torch.cuda.current_device()]
        self._previous = self._default.graphsafe_get_state()
        self._default.graphsafe_set_state(self.noise)
        self._context = torch.cuda.stream(self._stream)
        self._context.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._context.__exit__(kind, error, trace)
        finally:
            self._default.graphsafe_set_state(self._previous)
