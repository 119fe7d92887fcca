"""A critic of observations and codes together, for symmetric variational autoencoders.

Pu et al., 2017, Adversarial Symmetric Variational Autoencoder, arXiv:1711.04915; Ruiz et al., 2019, Learning
Disentangled Representations with Reference-Based Variational Autoencoders, arXiv:1901.08534.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Encoder, Network
from unbraid.nn.conv import SIDES, ConvEncoder
from unbraid.nn.mlp import MLPEncoder
from unbraid.types import Codes, Observations


class JointCritic(Network):
    """Observations with codes to two logits: codes found in observations, and observations made from codes.

    Args:
        shape: The shape of one observation.
        codes: The number of dimensions of the code that it sees.
        width: Of what is seen of the observation, and of the two layers that join it to the code.
    """

    def __init__(self, shape: tuple[int, ...], codes: int, *, width: int = 256) -> None:
        super().__init__()
        self.shape, self.codes = shape, codes
        self.features = _features(shape, width // 2)
        self.layers = nn.Sequential(
            nn.Linear(2 * (width // 2) + codes, width),
            nn.LeakyReLU(0.2),
            nn.Linear(width, width),
            nn.LeakyReLU(0.2),
            nn.Linear(width, 2),
        )

    def forward(self, x: Observations, z: Codes) -> Float[Tensor, "b 2"]:
        return self.layers(torch.cat([*self.features(x), z], 1))


def _features(shape: tuple[int, ...], half: int) -> Encoder:
    """An encoder whose two outputs are taken together; convolutional where the images allow it."""
    if len(shape) == 3 and shape[1] == shape[2] and shape[1] in SIDES:
        return ConvEncoder(shape, half)
    return MLPEncoder(shape, half, hidden=(2 * half, 2 * half))
