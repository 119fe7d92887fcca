"""Flows: invertible networks between observations and codes of the same number of dimensions.

GIN, the general incompressible-flow network, is that of Sorrenson et al., 2020, Disentanglement by Nonlinear ICA
with General Incompressible-Flow Networks, arXiv:2001.04872, with the sizes of its published code.
"""

import abc
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from unbraid.nn.base import Network
from unbraid.nn.coupling import Coupling, conv_subnet, full_subnet
from unbraid.types import Codes, Images, Observations


@contextmanager
def exactly() -> Iterator[None]:
    """Full float32 on CUDA devices: with TF32 steps are faster, and an inverse's error is a thousand times larger."""
    kinds: Any = torch.backends.cudnn, torch.backends.cuda.matmul
    before = [kind.allow_tf32 for kind in kinds]
    try:
        for kind in kinds:
            kind.allow_tf32 = False
        yield
    finally:
        for kind, allowed in zip(kinds, before, strict=True):
            kind.allow_tf32 = allowed


SQUEEZES = 2  # of an image; each halves its sides


class Flow(Network, abc.ABC):
    """Observations to codes and back, exactly up to rounding; `codes` is the number of dimensions of both."""

    codes: int
    shape: tuple[int, ...]

    @abc.abstractmethod
    def forward(self, x: Observations) -> Codes: ...

    @abc.abstractmethod
    def inverse(self, z: Codes) -> Observations:
        """The observations of the codes."""

    def check(self, x: Observations) -> None:
        """Raises unless the flow was made for such observations."""
        if x.shape[1:] != self.shape:
            raise ValueError(f"The flow was made for observations {self.shape}; got {tuple(x.shape[1:])}.")


class RowFlow(Flow):
    """Fully connected coupling blocks for rows, or for images laid out flat.

    Args:
        shape: The shape of one observation; at least two numbers in all.
        blocks: Of coupling, each followed by a fixed permutation.
        width: Of both hidden layers of a block's networks.
        volume_preserving: Whether volumes stay as they are (GIN); without it, RealNVP.
        identity: Whether it starts as the identity, up to the order of dimensions.
        clamp: The largest logarithm of a block's scale.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        *,
        blocks: int = 8,
        width: int = 10,
        volume_preserving: bool = True,
        identity: bool = True,
        clamp: float = 2.0,
    ) -> None:
        super().__init__()
        self.shape, self.codes = tuple(shape), prod(shape)
        if self.codes < 2 or blocks < 1:
            raise ValueError(
                f"A flow couples two halves of an observation: it needs at least 2 numbers and 1 block; got "
                f"{self.codes} and {blocks}."
            )
        subnet = full_subnet(width, identity=identity)
        self.blocks = nn.ModuleList(
            Coupling(self.codes, subnet, axis=0, volume_preserving=volume_preserving, clamp=clamp)
            for _ in range(blocks)
        )

    def forward(self, x: Observations) -> Codes:
        self.check(x)
        upright = x.flatten(1).t().contiguous()
        for block in self.blocks:
            upright = block(upright)
        return upright.t()

    def inverse(self, z: Codes) -> Observations:
        upright = z.t().contiguous()
        for block in reversed(self.blocks):
            upright = block.inverse(upright)  # type: ignore[operator]
        return upright.t().reshape(-1, *self.shape)


class ImageFlow(Flow):
    """GIN for images: squeeze, convolutional blocks, squeeze, convolutional blocks, fully connected blocks.

    A squeeze makes each square of four pixels four channels. On 28×28 digits the widths are those of the published
    code: 16, 32, and 392, half of the pixels.

    Args:
        shape: Channels, height and width; both sides multiples of 4.
        blocks: Of coupling, after the first squeeze, after the second, and on the flat image.
        widths: Channels inside the networks of the convolutional blocks.
        clamp: The largest logarithm of a block's scale.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        *,
        blocks: tuple[int, int, int] = (4, 4, 2),
        widths: tuple[int, int] = (16, 32),
        clamp: float = 2.0,
    ) -> None:
        super().__init__()
        if len(shape) != 3 or shape[1] % 2**SQUEEZES or shape[2] % 2**SQUEEZES or min(shape) < 1:
            raise ValueError(
                f"The flow squeezes an image twice, so both sides must be multiples of {2**SQUEEZES}; got {shape}: "
                "crop or resize the images, or take the fully connected flow with architecture 'mlp'."
            )
        self.shape, self.codes = tuple(shape), prod(shape)
        channels = shape[0]
        stages = []
        for count, width in zip(blocks, widths, strict=False):
            channels *= 4
            couplings = [Coupling(channels, conv_subnet(width), axis=1, clamp=clamp) for _ in range(count)]
            stages.append(nn.ModuleList(couplings))
        self.stages = nn.ModuleList(stages)
        flat = full_subnet(self.codes // 2, xavier=True)
        self.flat = nn.ModuleList(Coupling(self.codes, flat, axis=0, clamp=clamp) for _ in range(blocks[2]))
        self.maps = (channels, shape[1] // 2**SQUEEZES, shape[2] // 2**SQUEEZES)

    def forward(self, x: Images) -> Codes:
        self.check(x)
        for stage in self.stages:
            x = F.pixel_unshuffle(x, 2)
            for block in stage:  # type: ignore[attr-defined]
                x = block(x)
        upright = x.flatten(1).t().contiguous()
        for block in self.flat:
            upright = block(upright)
        return upright.t()

    def inverse(self, z: Codes) -> Images:
        upright = z.t().contiguous()
        for block in reversed(self.flat):
            upright = block.inverse(upright)  # type: ignore[operator]
        x = upright.t().reshape(-1, *self.maps)
        for stage in reversed(self.stages):
            for block in reversed(stage):  # type: ignore[arg-type]
                x = block.inverse(x)
            x = F.pixel_shuffle(x, 2)
        return x


def flow_for(shape: tuple[int, ...], architecture: str) -> Flow:
    """GIN for observations of a shape: convolutional for images unless the architecture is `mlp`."""
    if len(shape) == 3 and architecture != "mlp":
        return ImageFlow(shape)
    return RowFlow(shape, width=max(10, prod(shape) // 2))  # 10 for ten columns, 392 for a digit's pixels
