"""Base classes of networks."""

import abc

from torch import nn

from unbraid.settings import NETWORKS, RecordsArguments
from unbraid.types import Codes, Gaussian, Observations


class Network(RecordsArguments, nn.Module):
    """A network that records its constructor's arguments, so that a run folder can describe it."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.startswith("unbraid.nn."):
            NETWORKS[cls.__name__] = cls


class Encoder(Network, abc.ABC):
    """Network from observations to the posterior q(z|x); `latent_dim` is the number of dimensions of the code."""

    latent_dim: int

    @abc.abstractmethod
    def forward(self, x: Observations) -> Gaussian: ...


class Decoder(Network, abc.ABC):
    """Network from codes to the parameters of p(x|z), logits or means in the shape of the observations."""

    @abc.abstractmethod
    def forward(self, z: Codes) -> Observations: ...
