"""The backbone `conv` of contrastive methods: a small convolutional network, for machines without a GPU."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Network
from unbraid.nn.batch_norm import BatchNorm2d
from unbraid.settings import require_shape
from unbraid.types import Images


class SmallConv(Network):
    """Network from images to features: convolutions of 3 with stride 2, then the mean over all positions.

    Each convolution is followed by batch normalization and a ReLU. Weights have PyTorch's default initialization.

    Args:
        shape: Channels, height and width of an image.
        channels: Channels of each convolution; the last number is the number of features.
    """

    def __init__(
        self, shape: tuple[int, int, int], *, channels: tuple[int, ...] = (32, 64, 128, 256)
    ) -> None:
        super().__init__()
        if len(shape) != 3 or min(shape[1:]) < 2 ** len(channels):
            raise ValueError(
                f"{len(channels)} convolutions of stride 2 require images (channels, height, width) of at least "
                f"{2 ** len(channels)} pixels per side; got {shape}."
            )
        self.shape, self.features = shape, channels[-1]
        modules: list[nn.Module] = []
        in_channels = shape[0]
        for out_channels in channels:
            modules += [
                nn.Conv2d(in_channels, out_channels, 3, 2, 1, bias=False),
                BatchNorm2d(out_channels),
                nn.ReLU(),
            ]
            in_channels = out_channels
        self.layers = nn.Sequential(*modules)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, x: Images) -> Float[Tensor, "b f"]:
        require_shape(self, x)
        return self.layers(x.contiguous(memory_format=torch.channels_last)).mean((2, 3))
