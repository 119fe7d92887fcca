"""Base classes of networks, src/unbraid/nn/base.py."""

import copy

import pytest
from torch import nn

from unbraid.nn import (
    Encoder,
    HasFeatures,
    HasLatentDim,
    HasShape,
    Invertible,
    MLPEncoder,
    MLPFeatures,
    Network,
    RowFlow,
    latent_dim_of,
)


def test_a_network_remembers_its_arguments_with_their_defaults() -> None:
    network = MLPEncoder((4,), 2, hidden=(8,))
    assert network.arguments == {"shape": (4,), "latent_dim": 2, "hidden": (8,), "activation": "relu"}
    assert copy.deepcopy(network).arguments == network.arguments
    assert isinstance(network, Network)


def test_an_encoder_without_a_forward_cannot_be_constructed() -> None:
    class Unfinished(Encoder):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Unfinished()


def test_what_networks_can_do() -> None:
    """Networks of a user have an ability if they have its attributes."""
    mine = nn.Linear(4, 3)
    assert not isinstance(mine, HasLatentDim | HasFeatures | HasShape | Invertible)
    mine.latent_dim, mine.shape = 3, (4,)  # type: ignore[assignment]
    assert isinstance(mine, HasLatentDim) and isinstance(mine, HasShape) and latent_dim_of(mine) == 3
    assert isinstance(RowFlow((4,)), Invertible) and not isinstance(MLPEncoder((4,), 2), Invertible)
    assert isinstance(MLPFeatures((4,)), HasFeatures) and not isinstance(MLPEncoder((4,), 2), HasFeatures)


def test_an_encoder_without_a_code_size() -> None:
    with pytest.raises(ValueError, match=r"needs an attribute `latent_dim`.*; Linear has none"):
        latent_dim_of(nn.Linear(4, 3))
