"""The disentanglers of UAI. Jaiswal et al., 2018, Unsupervised Adversarial Invariance, arXiv:1809.10083."""

from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Network


class Disentanglers(Network):
    """Two predictors: of the second strand of a code from the first, and of the first strand from the second.

    Each is one layer and a tanh, as in the encoder of each strand.

    Args:
        first: Number of dimensions of the first strand.
        second: Number of dimensions of the second strand.
    """

    def __init__(self, first: int, second: int) -> None:
        super().__init__()
        self.to_second = nn.Sequential(nn.Linear(first, second), nn.Tanh())
        self.to_first = nn.Sequential(nn.Linear(second, first), nn.Tanh())

    def forward(
        self, e1: Float[Tensor, "b e1"], e2: Float[Tensor, "b e2"]
    ) -> tuple[Float[Tensor, "b e1"], Float[Tensor, "b e2"]]:
        return self.to_first(e2), self.to_second(e1)
