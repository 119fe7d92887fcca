"""What methods ask of a network."""

import abc

from torch import nn

from unbraid.settings import Described
from unbraid.types import Codes, Gaussian, Observations


class Network(Described, nn.Module):
    """A network that remembers its constructor's arguments, so that a run folder can name it."""


class Encoder(Network, abc.ABC):
    """Observations to the posterior q(z|x); `codes` is its number of dimensions."""

    codes: int

    @abc.abstractmethod
    def forward(self, x: Observations) -> Gaussian: ...


class Decoder(Network, abc.ABC):
    """Codes to the parameters of p(x|z), in the shape of the observations: logits or means."""

    @abc.abstractmethod
    def forward(self, z: Codes) -> Observations: ...
