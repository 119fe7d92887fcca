"""Classifiers of codes."""

from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Network
from unbraid.nn.mlp import layers
from unbraid.types import Codes, Logits


class Classifier(Network):
    """Network from codes to one logit per class, with PyTorch's default initialization.

    Args:
        latent_dim: Number of dimensions of the code.
        classes: Number of classes.
        hidden: Widths of the hidden layers, each followed by a ReLU; empty for a linear classifier.
    """

    def __init__(self, latent_dim: int, classes: int, *, hidden: tuple[int, ...] = (128,)) -> None:
        super().__init__()
        self.latent_dim, self.classes = latent_dim, classes
        self.layers = nn.Sequential(
            *layers((latent_dim, *hidden), "relu"), nn.Linear((latent_dim, *hidden)[-1], classes)
        )

    def forward(self, z: Codes) -> Logits:
        return self.layers(z)


class Classifiers(Network):
    """One classifier per label; returns the logits of each.

    Args:
        latent_dim: Number of dimensions of the code.
        classes: Number of classes of each label.
        hidden: Widths of the hidden layers of each classifier.
    """

    def __init__(
        self, latent_dim: int, classes: tuple[int, ...], *, hidden: tuple[int, ...] = (128,)
    ) -> None:
        super().__init__()
        self.latent_dim, self.classes = latent_dim, classes
        self.classifiers = nn.ModuleList(Classifier(latent_dim, size, hidden=hidden) for size in classes)

    def forward(self, z: Codes) -> tuple[Float[Tensor, "b _"], ...]:
        return tuple(classifier(z) for classifier in self.classifiers)
