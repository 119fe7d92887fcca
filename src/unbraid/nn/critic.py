"""The critic of FactorVAE. Kim & Mnih, 2018, Disentangling by Factorising, arXiv:1802.05983."""

from itertools import pairwise

from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Network
from unbraid.types import Codes


class Critic(Network):
    """Codes to two logits: as they are, and with shuffled dimensions. Weights start as PyTorch's defaults.

    Args:
        codes: The number of dimensions of the code.
        width: Of each hidden layer.
        layers: How many hidden layers, each followed by a leaky ReLU of slope 0.2; 0 for a linear critic.
    """

    def __init__(self, codes: int, *, width: int = 1000, layers: int = 6) -> None:
        super().__init__()
        self.codes = codes
        sizes, modules = (codes, *[width] * layers), []
        for before, after in pairwise(sizes):
            modules += [nn.Linear(before, after), nn.LeakyReLU(0.2)]
        self.layers = nn.Sequential(*modules, nn.Linear(sizes[-1], 2))

    def forward(self, z: Codes) -> Float[Tensor, "b 2"]:
        return self.layers(z)
