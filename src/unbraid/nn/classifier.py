"""Codes to classes."""

from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Network
from unbraid.nn.mlp import layers
from unbraid.types import Codes, Logits


class Classifier(Network):
    """Codes to a logit for each class. Weights start as PyTorch's defaults.

    Args:
        codes: The number of dimensions of the code.
        classes: The number of classes.
        hidden: The widths of the hidden layers, each followed by a ReLU; none for a linear classifier.
    """

    def __init__(self, codes: int, classes: int, *, hidden: tuple[int, ...] = (128,)) -> None:
        super().__init__()
        self.codes, self.classes = codes, classes
        self.layers = nn.Sequential(
            *layers((codes, *hidden), "relu"), nn.Linear((codes, *hidden)[-1], classes)
        )

    def forward(self, z: Codes) -> Logits:
        return self.layers(z)


class Classifiers(Network):
    """A classifier for each of several labels; their logits come out side by side.

    Args:
        codes: The number of dimensions of the code.
        classes: The number of classes of each label.
        hidden: As of one classifier.
    """

    def __init__(self, codes: int, classes: tuple[int, ...], *, hidden: tuple[int, ...] = (128,)) -> None:
        super().__init__()
        self.codes, self.classes = codes, classes
        self.each = nn.ModuleList(Classifier(codes, size, hidden=hidden) for size in classes)

    def forward(self, z: Codes) -> tuple[Float[Tensor, "b _"], ...]:
        return tuple(classifier(z) for classifier in self.each)
