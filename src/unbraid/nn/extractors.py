"""Networks from observations to features, by name: for methods that learn no decoder."""

from collections.abc import Callable, Mapping
from functools import partial
from math import prod

from jaxtyping import Float
from torch import Tensor, nn

from unbraid.naming import choose
from unbraid.nn.base import Network
from unbraid.nn.mlp import layers
from unbraid.nn.resnet import ResNet
from unbraid.nn.small_conv import SmallConv
from unbraid.types import Observations


class MLPFeatures(Network):
    """Images laid out flat, or rows, to features, by layers with ReLU.

    Args:
        shape: The shape of one observation: (channels, height, width) or (columns,).
        hidden: The widths of the layers; the last are the features.
    """

    def __init__(self, shape: tuple[int, ...], *, hidden: tuple[int, ...] = (512, 256)) -> None:
        super().__init__()
        self.shape, self.features = shape, hidden[-1]
        self.layers = nn.Sequential(nn.Flatten(), *layers((prod(shape), *hidden), "relu"))

    def forward(self, x: Observations) -> Float[Tensor, "b f"]:
        if x.shape[1:] != self.shape:
            raise ValueError(f"The network was made for observations {self.shape}; got {tuple(x.shape[1:])}.")
        return self.layers(x)


EXTRACTORS: Mapping[str, Callable[..., Network]] = {
    "conv": SmallConv,
    "resnet-18": partial(ResNet, depth=18),
    "resnet-34": partial(ResNet, depth=34),
    "mlp": MLPFeatures,
}


def extractor(name: str, shape: tuple[int, ...]) -> Network:
    """The network of the name for observations of the given shape; its `features` says how many come out."""
    make = choose("architecture", name, EXTRACTORS)
    if len(shape) != 3 and name != "mlp":
        raise ValueError(
            f"The architecture {name!r} is for images (channels, height, width), and the observations have the "
            f"shape {shape}: use 'mlp'."
        )
    return make(shape)
