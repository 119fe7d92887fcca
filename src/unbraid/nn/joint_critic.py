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
    """Network from observations and codes to two logits: codes encoded from observations, and observations decoded from
    codes.

    Args:
        shape: Shape of one observation.
        latent_dim: Number of dimensions of the code.
        width: Number of features of the observation, and width of the two layers after the concatenation with the code.
    """

    def __init__(self, shape: tuple[int, ...], latent_dim: int, *, width: int = 256) -> None:
        super().__init__()
        self.shape, self.latent_dim = shape, latent_dim
        self.features = _features(shape, width // 2)
        self.layers = nn.Sequential(
            nn.Linear(2 * (width // 2) + latent_dim, width),
            nn.LeakyReLU(0.2),
            nn.Linear(width, width),
            nn.LeakyReLU(0.2),
            nn.Linear(width, 2),
        )

    def forward(self, x: Observations, z: Codes) -> Float[Tensor, "b 2"]:
        return self.layers(torch.cat([*self.features(x), z], 1))


def _features(shape: tuple[int, ...], half: int) -> Encoder:
    """An encoder whose two outputs are both features; convolutional if the shape allows it."""
    if len(shape) == 3 and shape[1] == shape[2] and shape[1] in SIDES:
        return ConvEncoder(shape, half)
    return MLPEncoder(shape, half, hidden=(2 * half, 2 * half))
