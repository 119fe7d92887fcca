"""Encoders and decoders by name, src/unbraid/nn/architectures.py."""

import json

import pytest
import torch
from torch.testing import assert_close

from unbraid.nn import ARCHITECTURES, Critic, Network, build_networks, split_overlay
from unbraid.settings import from_json, to_json


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_encoder_and_decoder_fit_together(name: str) -> None:
    encoder, decoder = build_networks(name, (3, 32, 32), 6)
    x = torch.rand(2, 3, 32, 32)
    assert encoder.latent_dim == 6
    assert decoder(encoder(x).mean).shape == x.shape


def test_a_split_architecture_has_two_encoders() -> None:
    """The first dimensions do not see a brighter image, the others do; the decoder takes all of them."""
    encoder, decoder = build_networks("split:conv-channelwise@2+conv", (3, 28, 28), 5)
    x = torch.rand(4, 3, 28, 28)
    change = (encoder(x + 0.5).mean - encoder(x).mean).abs().amax(0)
    assert encoder.latent_dim == decoder.latent_dim == 5
    assert (change[:2] < 1e-5).all() and (change[2:] > 1e-4).all()
    assert decoder(encoder(x).mean).shape == x.shape
    for name in ("split:conv@5+conv", "split:conv@0+conv", "split:conv+conv", "split:conv@2"):
        with pytest.raises(ValueError, match=r"written split:FIRST@DIM\+SECOND, with DIM from 1 to 4"):
            build_networks(name, (3, 28, 28), 5)
    with pytest.raises(ValueError, match="architecture 'cone'"):
        build_networks("split:cone@2+conv", (3, 28, 28), 5)


def test_variants_differ() -> None:
    """By the output of the encoder, so that a name cannot silently mean another architecture."""
    x, outputs = torch.rand(1, 3, 64, 64), set()
    for name in ARCHITECTURES:
        torch.manual_seed(0)
        outputs.add(build_networks(name, (3, 64, 64), 10)[0](x).mean.sum().item())
    assert len(outputs) == len(ARCHITECTURES)


def test_rows() -> None:
    encoder, decoder = build_networks("mlp", (7,), 3)
    assert decoder(encoder(torch.rand(2, 7)).mean).shape == (2, 7)
    with pytest.raises(ValueError, match=r"'conv' requires images .* shape \(7,\)\. Use 'mlp'"):
        build_networks("conv", (7,), 3)


def test_an_overlay_needs_a_method_with_two_strands() -> None:
    assert split_overlay("overlay:conv+mlp") == ("conv", "mlp")
    with pytest.raises(
        ValueError, match=r"'overlay:conv\+mlp' requires a method with .*common and salient.*'conv'"
    ):
        build_networks("overlay:conv+mlp", (1, 32, 32), 3)


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"no architecture 'con'.* conv"):
        build_networks("con", (1, 32, 32), 3)


def test_a_code_has_at_least_one_dimension() -> None:
    with pytest.raises(ValueError, match="latent_dim=0"):
        build_networks("conv", (1, 32, 32), 0)


@pytest.mark.parametrize(
    "name", ["conv", "conv-burgess", "conv-channelwise-polar", "conv-contrast", "mlp", "mlp-small", "linear"]
)
def test_networks_are_rebuilt_from_their_description(name: str) -> None:
    for network in build_networks(name, (1, 28, 28), 3):
        again = from_json(json.loads(json.dumps(to_json(network))))
        assert type(again) is type(network) and again.arguments == network.arguments
        again.load_state_dict(network.state_dict())


def test_a_critic_is_rebuilt_from_its_description() -> None:
    critic = Critic(3, width=5, layers=2)
    again: Network = from_json(json.loads(json.dumps(to_json(critic))))
    again.load_state_dict(critic.state_dict())
    z = torch.randn(4, 3)
    assert_close(again(z), critic(z))
