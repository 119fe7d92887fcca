"""The disentanglers of UAI. Jaiswal et al., 2018, Unsupervised Adversarial Invariance, arXiv:1809.10083."""

from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Network


class Disentanglers(Network):
    """Two guesses: of the second part of a code from the first, and of the first from the second.

    Each is one layer and a tanh, as the parts of the code are.

    Args:
        first: The number of dimensions of the first part.
        second: Of the second.
    """

    def __init__(self, first: int, second: int) -> None:
        super().__init__()
        self.to_second = nn.Sequential(nn.Linear(first, second), nn.Tanh())
        self.to_first = nn.Sequential(nn.Linear(second, first), nn.Tanh())

    def forward(
        self, e1: Float[Tensor, "b e1"], e2: Float[Tensor, "b e2"]
    ) -> tuple[Float[Tensor, "b e1"], Float[Tensor, "b e2"]]:
        return self.to_first(e2), self.to_second(e1)
