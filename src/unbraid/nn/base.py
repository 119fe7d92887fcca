"""Base classes of networks, and what a network can do, as protocols to check with `isinstance`."""

import abc
from typing import Protocol, runtime_checkable

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


@runtime_checkable
class HasShape(Protocol):
    """A network that is built for observations of one shape."""

    shape: tuple[int, ...]


@runtime_checkable
class HasLatentDim(Protocol):
    """A network that returns or takes codes; `latent_dim` is their number of dimensions."""

    latent_dim: int


@runtime_checkable
class HasFeatures(Protocol):
    """A network that returns features; `features` is their number."""

    features: int


@runtime_checkable
class HasTrunk(Protocol):
    """An encoder whose posterior is one linear layer, the heads, on the features of a trunk."""

    trunk: nn.Module
    heads: nn.Linear


@runtime_checkable
class Invertible(HasLatentDim, Protocol):
    """A network from observations to codes that also maps codes back to observations."""

    def inverse(self, z: Codes) -> Observations:
        """The observations of the codes."""
        ...
