"""Base classes of networks, src/unbraid/nn/base.py."""

import copy

import pytest

from unbraid.nn import Encoder, MLPEncoder, Network


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
