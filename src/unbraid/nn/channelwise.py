"""One set of layers for every channel."""

from jaxtyping import Float
from torch import Tensor, nn

from unbraid.types import Images


class Channelwise(nn.Module):
    """Reads every channel of an image by itself and takes the largest of each feature over them.

    Which channel shows something, and how many do, then makes no difference.

    Args:
        layers: Images of one channel to features.
    """

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, x: Images) -> Float[Tensor, "b f"]:
        each = x.flatten(0, 1)[:, None]
        return self.layers(each).unflatten(0, x.shape[:2]).amax(1)
