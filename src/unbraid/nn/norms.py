"""Normalization after a convolution, by name: what "channel normalization" can mean.

All have a learned scale and shift per channel. `batch` couples the images of a batch; the others do not.
"""

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.batch_norm import BatchNorm2d

Maps = Float[Tensor, "b c h w"]
Normalization = Literal["batch", "instance", "layer", "channel"]


class ChannelNorm2d(nn.Module):
    """Normalization over the channels at each position of each image. Mentzer et al., 2020, arXiv:2006.09965."""

    def __init__(self, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.eps = eps

    def forward(self, x: Maps) -> Maps:
        maps = x.float() if x.dtype == torch.bfloat16 else x
        centered = maps - maps.mean(1, keepdim=True)
        normal = centered * ((centered * centered).mean(1, keepdim=True) + self.eps).rsqrt()
        return (normal * self.weight[:, None, None] + self.bias[:, None, None]).to(x.dtype)


def instance_norm(channels: int) -> nn.GroupNorm:
    """Normalization of each channel of each image over its positions. Ulyanov et al., 2016, arXiv:1607.08022."""
    return nn.GroupNorm(channels, channels)


def layer_norm(channels: int) -> nn.GroupNorm:
    """Normalization of each image over channels and positions. Ba et al., 2016, arXiv:1607.06450."""
    return nn.GroupNorm(1, channels)


NORMS: dict[Normalization, Callable[[int], nn.Module]] = {
    "batch": BatchNorm2d,
    "instance": instance_norm,
    "layer": layer_norm,
    "channel": ChannelNorm2d,
}
