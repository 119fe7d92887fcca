"""What a dataset needs from an object that renders its images on demand."""

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Int, UInt8
from torch import Tensor


@runtime_checkable
class Renderer(Protocol):
    """Renders the images of factor values on demand, on the device of the values."""

    @property
    def shape(self) -> tuple[int, int, int]: ...

    def __call__(self, values: Int[Tensor, "n k"]) -> UInt8[Tensor, "n c h w"]: ...


@runtime_checkable
class TensorRenderer(Renderer, Protocol):
    """A renderer that holds tensors, which are moved with the dataset."""

    @property
    def nbytes(self) -> int: ...

    def to(self, device: torch.device | str) -> "TensorRenderer": ...
