"""Networks from observations to features, by name, for methods without a decoder."""

from collections.abc import Callable, Mapping
from functools import partial
from math import prod

from jaxtyping import Float
from torch import Tensor, nn

from unbraid.custom_code import is_reference, require_known
from unbraid.nn.base import Network
from unbraid.nn.mlp import layers
from unbraid.nn.resnet import ResNet
from unbraid.nn.small_conv import SmallConv
from unbraid.settings import lookup, require_images, require_shape
from unbraid.types import Observations


class MLPFeatures(Network):
    """Network from flattened images, or rows, to features: fully connected layers with ReLU.

    Args:
        shape: Shape of one observation: (channels, height, width) or (columns,).
        hidden: Widths of the layers; the last width is the number of features.
    """

    def __init__(self, shape: tuple[int, ...], *, hidden: tuple[int, ...] = (512, 256)) -> None:
        super().__init__()
        self.shape, self.features = shape, hidden[-1]
        self.layers = nn.Sequential(nn.Flatten(), *layers((prod(shape), *hidden), "relu"))

    def forward(self, x: Observations) -> Float[Tensor, "b f"]:
        require_shape(self, x)
        return self.layers(x)


BACKBONES: Mapping[str, Callable[..., Network]] = {
    "conv": SmallConv,
    "resnet-18": partial(ResNet, depth=18),
    "resnet-34": partial(ResNet, depth=34),
    "resnet-18-stride-2": partial(ResNet, depth=18, stem="stride-2"),
    "resnet-34-stride-2": partial(ResNet, depth=34, stem="stride-2"),
    "mlp": MLPFeatures,
}


def backbone(name: str, shape: tuple[int, ...]) -> Network:
    """The named network for observations of the given shape; `features` is the number of its outputs."""
    if name not in BACKBONES and is_reference(name):
        return require_known(name, option="--architecture")(shape)
    network = lookup("architecture", name, BACKBONES)
    if name != "mlp":
        require_images(name, shape)
    return network(shape)
