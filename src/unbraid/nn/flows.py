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

from unbraid.custom_code import is_reference, require_known
from unbraid.nn.base import Network
from unbraid.nn.coupling import Coupling, conv_subnet, full_subnet
from unbraid.settings import require_shape
from unbraid.types import Codes, Images, Observations


@contextmanager
def disable_tf32() -> Iterator[None]:
    """Context with full float32 on CUDA devices: TF32 makes the error of an inverse a thousand times larger."""
    kinds: Any = torch.backends.cudnn, torch.backends.cuda.matmul
    before = [kind.allow_tf32 for kind in kinds]
    try:
        for kind in kinds:
            kind.allow_tf32 = False
        yield
    finally:
        for kind, allowed in zip(kinds, before, strict=True):
            kind.allow_tf32 = allowed


SQUEEZES = 2  # squeezes of an image; each halves both sides


class Flow(Network, abc.ABC):
    """Invertible network between observations and codes; `latent_dim` is the number of dimensions of both."""

    latent_dim: int
    shape: tuple[int, ...]

    @abc.abstractmethod
    def forward(self, x: Observations) -> Codes: ...

    @abc.abstractmethod
    def inverse(self, z: Codes) -> Observations:
        """The observations of the codes."""


class RowFlow(Flow):
    """Fully connected coupling blocks for rows, or for flattened images.

    Args:
        shape: Shape of one observation, with at least two dimensions in total.
        blocks: Number of coupling blocks, each followed by a fixed permutation or rotation.
        width: Width of both hidden layers in the networks of a block.
        volume_preserving: Whether the flow preserves volume (GIN); RealNVP otherwise.
        identity: Whether the flow is initialized to the identity, up to the mixing of dimensions.
        clamp: Maximum of the logarithm of a scale.
        mixing: What follows each block: `permutation` or `rotation`.
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
        mixing: str = "permutation",
    ) -> None:
        super().__init__()
        self.shape, self.latent_dim = tuple(shape), prod(shape)
        if self.latent_dim < 2 or blocks < 1:
            raise ValueError(
                f"A flow requires observations with at least 2 dimensions and at least 1 block; got {self.latent_dim} "
                f"and {blocks}."
            )
        subnet = full_subnet(width, identity=identity)
        self.blocks = nn.ModuleList(
            Coupling(
                self.latent_dim,
                subnet,
                axis=0,
                volume_preserving=volume_preserving,
                clamp=clamp,
                mixing=mixing,
            )
            for _ in range(blocks)
        )

    def forward(self, x: Observations) -> Codes:
        require_shape(self, x)
        columns = x.flatten(1).t().contiguous()
        for block in self.blocks:
            columns = block(columns)
        return columns.t()

    def inverse(self, z: Codes) -> Observations:
        columns = z.t().contiguous()
        for block in reversed(self.blocks):
            columns = block.inverse(columns)  # type: ignore[operator]
        return columns.t().reshape(-1, *self.shape)


class ImageFlow(Flow):
    """GIN for images: squeeze, convolutional blocks, squeeze, convolutional blocks, fully connected blocks.

    A squeeze turns each square of four pixels into four channels. On 28×28 digits the widths are those of the published
    code: 16, 32, and 392, half of the pixels.

    Args:
        shape: Channels, height and width; both sides multiples of 4.
        blocks: Numbers of coupling blocks after the first squeeze, after the second, and on the flattened image.
        widths: Channels inside the networks of the convolutional blocks.
        clamp: Maximum of the logarithm of a scale.
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
                f"The flow squeezes images twice, so both sides must be multiples of {2**SQUEEZES}; got {shape}. "
                "Crop or resize the images, or use the fully connected flow with --architecture mlp."
            )
        self.shape, self.latent_dim = tuple(shape), prod(shape)
        channels = shape[0]
        stages = []
        for count, width in zip(blocks, widths, strict=False):
            channels *= 4
            couplings = [Coupling(channels, conv_subnet(width), axis=1, clamp=clamp) for _ in range(count)]
            stages.append(nn.ModuleList(couplings))
        self.stages = nn.ModuleList(stages)
        flat = full_subnet(self.latent_dim // 2, xavier=True)
        self.flat = nn.ModuleList(
            Coupling(self.latent_dim, flat, axis=0, clamp=clamp) for _ in range(blocks[2])
        )
        self.maps = (channels, shape[1] // 2**SQUEEZES, shape[2] // 2**SQUEEZES)

    def forward(self, x: Images) -> Codes:
        require_shape(self, x)
        for stage in self.stages:
            x = F.pixel_unshuffle(x, 2)
            for block in stage:  # type: ignore[attr-defined]
                x = block(x)
        columns = x.flatten(1).t().contiguous()
        for block in self.flat:
            columns = block(columns)
        return columns.t()

    def inverse(self, z: Codes) -> Images:
        columns = z.t().contiguous()
        for block in reversed(self.flat):
            columns = block.inverse(columns)  # type: ignore[operator]
        x = columns.t().reshape(-1, *self.maps)
        for stage in reversed(self.stages):
            for block in reversed(stage):  # type: ignore[arg-type]
                x = block.inverse(x)
            x = F.pixel_shuffle(x, 2)
        return x


ROTATIONS = "mlp-rotations"  # the architecture of a fully connected flow with rotations


def flow_for(shape: tuple[int, ...], architecture: str) -> Flow:
    """The GIN flow for observations of a shape.

    Convolutional for images unless the architecture is `mlp` or `mlp-rotations`; the latter has rotations in place of
    permutations.
    """
    if ":" in architecture and is_reference(architecture):
        return require_known(architecture, option="--architecture")(shape)
    if len(shape) == 3 and architecture not in ("mlp", ROTATIONS):
        return ImageFlow(shape)
    mixing = "rotation" if architecture == ROTATIONS else "permutation"
    width = max(10, prod(shape) // 2)  # 10 for ten columns, 392 for a digit's pixels
    return RowFlow(shape, width=width, mixing=mixing)
