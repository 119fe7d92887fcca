"""Encoders without a spread, for methods whose code is no distribution."""

from typing import Literal

from torch import nn

from unbraid.nn.base import Network
from unbraid.nn.conv import ConvEncoder
from unbraid.nn.digits import DigitEncoder
from unbraid.nn.mlp import MLPEncoder
from unbraid.nn.polar import PolarEncoder
from unbraid.types import Codes, Observations

Ending = Literal["linear", "relu", "tanh"]
ENDINGS: dict[Ending, type[nn.Module]] = {"linear": nn.Identity, "relu": nn.ReLU, "tanh": nn.Tanh}


class Features(Network):
    """Observations to codes: the layers of an encoder but its heads, and one that puts out the code alone.

    Args:
        encoder: Whose layers to take, for observations of its shape and as many codes as it has.
        ending: What follows the last layer: linear (nothing), relu or tanh.
    """

    def __init__(
        self, encoder: ConvEncoder | DigitEncoder | MLPEncoder | PolarEncoder, *, ending: Ending = "linear"
    ) -> None:
        super().__init__()
        self.shape, self.codes = encoder.shape, encoder.codes
        self.trunk = encoder.trunk
        self.head = nn.Sequential(nn.Linear(encoder.heads.in_features, self.codes), ENDINGS[ending]())

    def forward(self, x: Observations) -> Codes:
        if x.shape[1:] != self.shape:
            raise ValueError(f"The encoder was made for observations {self.shape}; got {tuple(x.shape[1:])}.")
        return self.head(self.trunk(x))
