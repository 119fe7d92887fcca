"""A decoder for each of two strands, with the second output added to the first."""

from typing import cast

import torch
from torch import Tensor, nn

from unbraid.nn.base import Decoder
from unbraid.types import Codes, Observations


class OverlayDecoder(Decoder):
    r"""Decodes the common strand, and adds the decoded salient strand as an overlay.

    .. math:: x = (1 + g(s) - g(0)) \, a(z) + 2 σ(k \, a(z) + c) \, (t(s) - t(0))

    The salient strand scales the base a by one factor g and adds the overlay t, gated by the brightness of the base
    at each position: k and c are two scalars, initialized to 0. The salient strand cannot change the meaning of the
    common strand, and at s = 0 the output is the base.

    Args:
        base: Decoder from the common strand to a.
        overlay: Decoder from the salient strand to t.
        common: Number of dimensions of the common strand, which is first.
        salient: Number of dimensions of the salient strand.
    """

    def __init__(self, base: nn.Module, overlay: nn.Module, *, common: int, salient: int) -> None:
        super().__init__()
        self.base, self.overlay, self.sizes = base, overlay, (common, salient)
        self.gain = nn.Sequential(nn.Linear(salient, 32), nn.ReLU(), nn.Linear(32, 1))
        self.gate = nn.Parameter(torch.zeros(2))  # k and c
        self.register_buffer("zero", torch.zeros(1, salient), persistent=False)

    def forward(self, z: Codes) -> Observations:
        common, salient = z.split(self.sizes, 1)
        a = self.base(common)
        t, g = (self._relative_to_zero(layer, salient) for layer in (self.overlay, self.gain))
        k, c = self.gate
        return (1 + g).view(-1, *[1] * (a.ndim - 1)) * a + 2 * torch.sigmoid(k * a + c) * t

    def _relative_to_zero(self, layer: nn.Module, salient: Codes) -> Tensor:
        """The layer's output for the codes minus its output for zero. In training, zero is part of the batch, so that
        both have the same batch statistics."""
        zero = cast(Tensor, self.zero).to(salient)
        if not self.training:
            return layer(salient) - layer(zero)
        outputs = layer(torch.cat([salient, zero]))
        return outputs[:-1] - outputs[-1:]
