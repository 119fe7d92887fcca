"""A small convolutional network for features: what a ResNet is to a GPU, this is to two cores."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Network
from unbraid.nn.batch_norm import BatchNorm2d
from unbraid.types import Images


class SmallConv(Network):
    """Images to features, by convolutions of 3 and stride 2 and the mean over all places.

    Each convolution is followed by batch normalisation and a ReLU. Weights start as PyTorch's defaults.

    Args:
        shape: Channels, height and width of an image.
        channels: Of each convolution; the last are the features.
    """

    def __init__(
        self, shape: tuple[int, int, int], *, channels: tuple[int, ...] = (32, 64, 128, 256)
    ) -> None:
        super().__init__()
        if len(shape) != 3 or min(shape[1:]) < 2 ** len(channels):
            raise ValueError(
                f"{len(channels)} convolutions of stride 2 need images (channels, height, width) of at least "
                f"{2 ** len(channels)} pixels a side; got {shape}."
            )
        self.shape, self.features = shape, channels[-1]
        modules: list[nn.Module] = []
        before = shape[0]
        for after in channels:
            modules += [nn.Conv2d(before, after, 3, 2, 1, bias=False), BatchNorm2d(after), nn.ReLU()]
            before = after
        self.layers = nn.Sequential(*modules)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, x: Images) -> Float[Tensor, "b f"]:
        if x.shape[1:] != self.shape:
            raise ValueError(f"The network was made for images {self.shape}; got {tuple(x.shape[1:])}.")
        return self.layers(x.contiguous(memory_format=torch.channels_last)).mean((2, 3))
