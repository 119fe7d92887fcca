"""A critic of observations and codes together, for symmetric variational autoencoders.

Pu et al., 2017, Adversarial Symmetric Variational Autoencoder, arXiv:1711.04915; Ruiz et al., 2019, Learning
Disentangled Representations with Reference-Based Variational Autoencoders, arXiv:1901.08534.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.naming import choose
from unbraid.nn.architectures import ARCHITECTURES
from unbraid.nn.base import Network
from unbraid.types import Codes, Observations


class JointCritic(Network):
    """Observations with codes to two logits: codes found in observations, and observations made from codes.

    Args:
        shape: The shape of one observation.
        codes: The number of dimensions of the code that it sees.
        architecture: Whose encoder looks at the observation, one of `unbraid.nn.ARCHITECTURES`.
        width: Of what that encoder says of it, and of the two layers that join it to the code.
    """

    def __init__(
        self, shape: tuple[int, ...], codes: int, *, architecture: str = "conv", width: int = 256
    ) -> None:
        super().__init__()
        self.shape, self.codes = shape, codes
        encoder, _ = choose("architecture", architecture, ARCHITECTURES)
        self.features = encoder(shape, width // 2)  # it puts out twice as many: means and log-variances
        self.layers = nn.Sequential(
            nn.Linear(2 * (width // 2) + codes, width),
            nn.LeakyReLU(0.2),
            nn.Linear(width, width),
            nn.LeakyReLU(0.2),
            nn.Linear(width, 2),
        )

    def forward(self, x: Observations, z: Codes) -> Float[Tensor, "b 2"]:
        return self.layers(torch.cat([*self.features(x), z], 1))
