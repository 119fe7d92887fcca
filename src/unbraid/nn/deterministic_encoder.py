"""Encoders without a variance, for methods with deterministic codes."""

from typing import Literal

import torch
from torch import nn

from unbraid.nn.base import Network
from unbraid.nn.concat_encoder import ConcatEncoder
from unbraid.nn.conv import ConvEncoder
from unbraid.nn.digits import DigitEncoder
from unbraid.nn.mlp import MLPEncoder
from unbraid.nn.polar import PolarEncoder
from unbraid.settings import require_shape
from unbraid.types import Codes, Observations

Ending = Literal["linear", "relu", "tanh"]
ENDINGS: dict[Ending, type[nn.Module]] = {"linear": nn.Identity, "relu": nn.ReLU, "tanh": nn.Tanh}


class DeterministicEncoder(Network):
    """Network from observations to codes: the layers of an encoder with one head for the code alone.

    Args:
        encoder: Encoder that provides the layers, the shape of the observations and the latent_dim; of concatenated
            encoders, each provides its own.
        ending: Activation after the last layer: linear (none), relu or tanh.
    """

    def __init__(
        self,
        encoder: ConvEncoder | DigitEncoder | MLPEncoder | PolarEncoder | ConcatEncoder,
        *,
        ending: Ending = "linear",
    ) -> None:
        super().__init__()
        self.shape, self.latent_dim = encoder.shape, encoder.latent_dim
        self.encoders = None
        if isinstance(encoder, ConcatEncoder):
            parts = (DeterministicEncoder(part, ending=ending) for part in encoder.encoders)  # type: ignore[arg-type]
            self.encoders = nn.ModuleList(parts)
            return
        self.trunk = encoder.trunk
        self.head = nn.Sequential(nn.Linear(encoder.heads.in_features, self.latent_dim), ENDINGS[ending]())

    def forward(self, x: Observations) -> Codes:
        require_shape(self, x)
        if self.encoders is not None:
            return torch.cat([encoder(x) for encoder in self.encoders], 1)
        return self.head(self.trunk(x))
