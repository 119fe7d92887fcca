"""Invertible coupling layers. Dinh et al., 2017, Density Estimation Using
Real NVP, arXiv:1605.08803; with one network for scale and shift as in Glow, Kingma & Dhariwal, 2018,
arXiv:1807.03039; volume-preserving as in GIN, Sorrenson et al., 2020, arXiv:2001.04872."""

import math
from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn

Values = Float[Tensor, "..."]  # channels are along the axis of the layer
Subnet = Callable[[int, int], nn.Module]  # channels in, channels out
MIXINGS = ("permutation", "rotation")


class Coupling(nn.Module):
    r"""Affine coupling: each half of the channels is scaled and shifted by a network of the other half.

    .. math:: y_1 = e^{s(x_2)} x_1 + t(x_2), \quad y_2 = e^{s(y_1)} x_2 + t(y_1)

    A fixed random permutation or rotation of the channels follows. The logarithms of the scales are softly clamped,
    :math:`s = c\, \tfrac{2}{π} \arctan(r / c)` for the network output r. With `volume_preserving` their mean over the
    channels is subtracted, so that the logarithm of the Jacobian determinant is 0 (GIN).

    Args:
        channels: Number of channels, at least 2.
        subnet: Function that builds a network from input and output channels.
        axis: Axis of the channels: 1 for images, 0 for transposed rows (channels, batch).
        volume_preserving: Whether the layer preserves volume.
        clamp: Maximum c of the logarithm of a scale.
        mixing: What follows: `permutation`, or `rotation`, which mixes all channels and also preserves volume.
    """

    order: Tensor
    rotation: Tensor

    def __init__(
        self,
        channels: int,
        subnet: Subnet,
        *,
        axis: int,
        volume_preserving: bool = True,
        clamp: float = 2.0,
        mixing: str = "permutation",
    ) -> None:
        super().__init__()
        if mixing not in MIXINGS:
            raise ValueError(f"mixing must be {' or '.join(MIXINGS)}; got {mixing!r}.")
        self.sizes = (channels // 2, channels - channels // 2)
        self.axis, self.volume_preserving, self.clamp = axis, volume_preserving, clamp
        self.mixing = mixing
        first, second = self.sizes
        self.to_first, self.to_second = subnet(second, 2 * first), subnet(first, 2 * second)
        if mixing == "permutation":
            self.register_buffer("order", torch.randperm(channels))
        else:
            self.register_buffer("rotation", random_rotation(channels))

    def forward(self, x: Values) -> Values:
        x1, x2 = x.split(self.sizes, self.axis)
        s, t = self._scale_and_shift(self.to_first, x2)
        y1 = torch.addcmul(t, s.exp(), x1)
        s, t = self._scale_and_shift(self.to_second, y1)
        y2 = torch.addcmul(t, s.exp(), x2)
        return self._mix(torch.cat([y1, y2], self.axis))

    def inverse(self, y: Values) -> Values:
        """The input x with `forward(x) == y`."""
        y1, y2 = self._unmix(y).split(self.sizes, self.axis)
        s, t = self._scale_and_shift(self.to_second, y1)
        x2 = (y2 - t) * (-s).exp()
        s, t = self._scale_and_shift(self.to_first, x2)
        x1 = (y1 - t) * (-s).exp()
        return torch.cat([x1, x2], self.axis)

    def _mix(self, y: Values) -> Values:
        if self.mixing == "permutation":
            return y.index_select(self.axis, self.order)
        return self._rotated(self.rotation.to(y.dtype), y)

    def _unmix(self, y: Values) -> Values:
        if self.mixing == "permutation":
            return y.index_select(self.axis, self.order.argsort())
        inverse = torch.linalg.inv(self.rotation.to(y.dtype))  # the transpose only up to rounding
        return self._rotated(inverse, y)

    def _rotated(self, matrix: Float[Tensor, "c c"], y: Values) -> Values:
        with torch.autocast(y.device.type, enabled=False):  # which would round the codes
            return torch.tensordot(matrix, y, dims=([1], [self.axis])).movedim(0, self.axis)  # type: ignore[arg-type]

    def _scale_and_shift(self, network: nn.Module, x: Values) -> tuple[Values, Values]:
        r, t = network(x).to(x.dtype).chunk(2, self.axis)
        s = (r / self.clamp).atan() * (2 / math.pi * self.clamp)
        return s - s.mean(self.axis, keepdim=True) if self.volume_preserving else s, t


def random_rotation(size: int) -> Float[Tensor, "c c"]:
    """A rotation matrix that is uniformly distributed over all rotations, from torch's default generator."""
    q, r = torch.linalg.qr(torch.randn(size, size))
    q = q * r.diagonal().sign()
    q[:, 0] *= torch.linalg.det(q).sign()  # without a reflection
    return q.contiguous()


class ChannelsFirstLinear(nn.Linear):
    """Linear layer on transposed rows, (channels, batch). Splitting and concatenating channels then copies contiguous
    memory, which makes a flow with few channels 2.5 times as fast on a CPU."""

    def forward(self, x: Float[Tensor, "c b"]) -> Float[Tensor, "o b"]:
        return torch.addmm(self.bias[:, None], self.weight, x)


def full_subnet(width: int, *, identity: bool = True, xavier: bool = False) -> Subnet:
    """Fully connected networks with two hidden layers, for transposed rows."""
    return partial(_subnet, layer=ChannelsFirstLinear, width=width, identity=identity, xavier=xavier)


def conv_subnet(width: int, *, identity: bool = True, xavier: bool = True) -> Subnet:
    """Three convolutions of kernel 3, for images."""
    layer = partial(nn.Conv2d, kernel_size=3, padding=1)
    return partial(_subnet, layer=layer, width=width, identity=identity, xavier=xavier)


def _subnet(
    before: int,
    after: int,
    *,
    layer: Callable[[int, int], nn.Module],
    width: int,
    identity: bool,
    xavier: bool,
) -> nn.Module:
    """Three layers with ReLUs between; with `identity` the last layer, and so the coupling, starts at zero."""
    layers = [layer(before, width), layer(width, width), layer(width, after)]
    for module in layers if xavier else ():
        nn.init.xavier_normal_(module.weight)  # type: ignore[arg-type]
    if identity:
        nn.init.zeros_(layers[-1].weight)  # type: ignore[arg-type]
        nn.init.zeros_(layers[-1].bias)  # type: ignore[arg-type]
    first, second, last = layers
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), last)
