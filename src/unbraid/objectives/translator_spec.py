"""Settings of the translator: the size of its network, and how it is trained. `translation.py` has the network."""

from dataclasses import dataclass
from typing import ClassVar

from unbraid.settings import Spec, require_nonnegative


class TranslatorSpec(Spec):
    """A network with one hidden layer, its training steps, and the resolution of its images."""

    adam: ClassVar[bool]  # whether Adam or gradient descent updates the weights
    informed: ClassVar[bool] = True  # whether the output starts at the mean target plus half of the input
    per_pixel: ClassVar[bool] = True  # whether the steps minimize the mean over pixels, or the sum of Eq. 2
    width: int  # of the hidden layer
    steps: int  # s of Algorithm 1
    lr: float  # α of Algorithm 1
    downsample: int  # factor by which images are downsampled along each side; 0 chooses it


@dataclass(frozen=True)
class MLPTranslator(TranslatorSpec):
    """A translator that is trained by Adam. The paper states neither layers, steps nor learning rate."""

    spec_name = "mlp"
    adam: ClassVar[bool] = True

    width: int = 32
    steps: int = 5
    lr: float = 0.05
    downsample: int = 0

    def __post_init__(self) -> None:
        if self.width < 1 or self.steps < 1:
            raise ValueError(
                f"Width and steps of a translator must be at least 1; got {self.width} and {self.steps}."
            )
        require_nonnegative(lr=float(self.lr), downsample=float(self.downsample))


@dataclass(frozen=True)
class MLPTranslatorSGD(MLPTranslator):
    """The same translator, trained by gradient descent on the mean over pixels."""

    spec_name = "mlp-sgd"
    adam: ClassVar[bool] = False

    lr: float = 0.1


@dataclass(frozen=True)
class PlainTranslator(MLPTranslator):
    """The translator of Algorithm 1 as printed: random weights, gradient descent on the cross-entropy of Eq. 2.

    It has images of full size, and its output does not start near the targets. Width, steps and learning rate are our
    reading, because the paper states none: fewer or smaller steps do not tell translations apart.
    """

    spec_name = "plain"
    adam: ClassVar[bool] = False
    informed: ClassVar[bool] = False
    per_pixel: ClassVar[bool] = False

    width: int = 256
    steps: int = 20
    lr: float = 0.01
    downsample: int = 1
