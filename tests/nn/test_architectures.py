"""Encoders and decoders by name, src/unbraid/nn/architectures.py."""

import json

import pytest
import torch
from torch.testing import assert_close

from unbraid.nn import ARCHITECTURES, Critic, Network, networks
from unbraid.settings import describe, rebuild


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_encoder_and_decoder_fit_together(name: str) -> None:
    encoder, decoder = networks(name, (3, 32, 32), 6)
    x = torch.rand(2, 3, 32, 32)
    assert encoder.codes == 6
    assert decoder(encoder(x).mean).shape == x.shape


def test_variants_differ() -> None:
    """In what the encoder says of an image, so that a name cannot silently mean another."""
    x, said = torch.rand(1, 3, 64, 64), set()
    for name in ARCHITECTURES:
        torch.manual_seed(0)
        said.add(networks(name, (3, 64, 64), 10)[0](x).mean.sum().item())
    assert len(said) == len(ARCHITECTURES)


def test_rows() -> None:
    encoder, decoder = networks("mlp", (7,), 3)
    assert decoder(encoder(torch.rand(2, 7)).mean).shape == (2, 7)
    with pytest.raises(ValueError, match=r"'conv' is for images .* shape \(7,\): use 'mlp'"):
        networks("conv", (7,), 3)


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"no architecture 'con'.* conv"):
        networks("con", (1, 32, 32), 3)


def test_a_code_has_at_least_one_dimension() -> None:
    with pytest.raises(ValueError, match="codes=0"):
        networks("conv", (1, 32, 32), 0)


@pytest.mark.parametrize(
    "name", ["conv", "conv-burgess", "conv-channelwise-polar", "conv-contrast", "mlp", "mlp-small", "linear"]
)
def test_networks_are_rebuilt_from_their_description(name: str) -> None:
    for network in networks(name, (1, 28, 28), 3):
        again = rebuild(json.loads(json.dumps(describe(network))))
        assert type(again) is type(network) and again.arguments == network.arguments
        again.load_state_dict(network.state_dict())


def test_a_critic_is_rebuilt_from_its_description() -> None:
    critic = Critic(3, width=5, layers=2)
    again: Network = rebuild(json.loads(json.dumps(describe(critic))))
    again.load_state_dict(critic.state_dict())
    z = torch.randn(4, 3)
    assert_close(again(z), critic(z))
