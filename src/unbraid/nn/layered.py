"""Two decoders whose pictures are laid over each other."""

from typing import cast

import torch
from torch import Tensor, nn

from unbraid.nn.base import Decoder
from unbraid.types import Codes, Observations


class Layered(Decoder):
    r"""What common codes show, and over it what salient codes add.

    .. math:: x = (1 + g(s) - g(0)) \, a(z) + 2 σ(k \, a(z) + c) \, (t(s) - t(0))

    A salient code can lighten or darken what is under it, by one factor g, and adds its own layer t to it, more or
    less by how bright the place is: k and c are two numbers, and no veil at first. So it cannot change what a common
    code means, and without it, at s = 0, the under layer is all there is.

    Args:
        under: Common codes to the layer a.
        over: Salient codes to the layer t.
        common: How many codes are common; they come first.
        salient: How many are salient.
    """

    def __init__(self, under: nn.Module, over: nn.Module, *, common: int, salient: int) -> None:
        super().__init__()
        self.under, self.over, self.sizes = under, over, (common, salient)
        self.gain = nn.Sequential(nn.Linear(salient, 32), nn.ReLU(), nn.Linear(32, 1))
        self.veil = nn.Parameter(torch.zeros(2))  # k and c
        self.register_buffer("zero", torch.zeros(1, salient), persistent=False)

    def forward(self, z: Codes) -> Observations:
        common, salient = z.split(self.sizes, 1)
        a, t, g = self.under(common), self._added(self.over, salient), self._added(self.gain, salient)
        k, c = self.veil
        return (1 + g).view(-1, *[1] * (a.ndim - 1)) * a + 2 * torch.sigmoid(k * a + c) * t

    def _added(self, layer: nn.Module, salient: Codes) -> Tensor:
        """What a layer makes of the codes, less what it makes of zero: in training among them, so that the statistics
        of a batch are the same for both."""
        zero = cast(Tensor, self.zero).to(salient)
        if not self.training:
            return layer(salient) - layer(zero)
        made = layer(torch.cat([salient, zero]))
        return made[:-1] - made[-1:]
