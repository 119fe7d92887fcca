"""Layers shared by all channels."""

from jaxtyping import Float
from torch import Tensor, nn

from unbraid.types import Images


class Channelwise(nn.Module):
    """Applies the same layers to every channel and takes the maximum of each feature over the channels.

    The features do not depend on which channels, or how many, show an object.

    Args:
        layers: Network from images of one channel to features.
    """

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, x: Images) -> Float[Tensor, "b f"]:
        channels = x.flatten(0, 1)[:, None]
        return self.layers(channels).unflatten(0, x.shape[:2]).amax(1)
