"""The critic of FactorVAE. Kim & Mnih, 2018, Disentangling by Factorizing, arXiv:1802.05983."""

from itertools import pairwise

from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Network
from unbraid.types import Codes


class Critic(Network):
    """Network from codes to two logits (original, shuffled dimensions), with PyTorch's default initialization.

    Args:
        latent_dim: Number of dimensions of the code.
        width: Width of each hidden layer.
        layers: Number of hidden layers, each followed by a leaky ReLU of slope 0.2; 0 for a linear critic.
    """

    def __init__(self, latent_dim: int, *, width: int = 1000, layers: int = 6) -> None:
        super().__init__()
        self.latent_dim = latent_dim
        sizes, modules = (latent_dim, *[width] * layers), []
        for before, after in pairwise(sizes):
            modules += [nn.Linear(before, after), nn.LeakyReLU(0.2)]
        self.layers = nn.Sequential(*modules, nn.Linear(sizes[-1], 2))

    def forward(self, z: Codes) -> Float[Tensor, "b 2"]:
        return self.layers(z)
