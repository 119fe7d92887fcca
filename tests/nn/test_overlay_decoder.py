"""The decoder with one output added to another, src/unbraid/nn/overlay_decoder.py."""

import json

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from unbraid.methods import CVAE, ContrastVAE, PrincipledContrast
from unbraid.methods.base import build_method
from unbraid.nn import OverlayDecoder, build_networks
from unbraid.settings import from_json, to_json


def overlay_decoder(name: str = "mlp-small", shape: tuple[int, ...] = (3, 28, 28)) -> OverlayDecoder:
    torch.manual_seed(0)
    base, overlay = (build_networks(name, shape, codes)[1] for codes in (3, 2))
    decoder = OverlayDecoder(base, overlay, common=3, salient=2)
    with torch.no_grad():
        decoder.gate.copy_(torch.tensor([0.7, -0.4]))
    return decoder


@pytest.mark.parametrize(
    ("name", "shape"), [("mlp-small", (5,)), ("conv", (3, 28, 28)), ("conv-contrast", (3, 28, 28))]
)
def test_a_salient_code_of_zero_leaves_the_base(name: str, shape: tuple[int, ...]) -> None:
    decoder, z = overlay_decoder(name, shape), torch.randn(4, 3)
    codes = torch.cat([z, torch.zeros(4, 2)], 1)
    assert_close(decoder(codes), decoder.base(z), atol=1e-6, rtol=1e-5)


def test_by_hand() -> None:
    """a = 2 z, t = 10 s + 4, g = s: at z = 1.5 and s = 0.5 x = 1.5 · 3 + 2 σ(0.5 · 3 - 1) · 5."""
    base, overlay = nn.Linear(1, 1), nn.Linear(1, 1)
    decoder = OverlayDecoder(base, overlay, common=1, salient=1)
    decoder.gain = nn.Linear(1, 1)
    values = {base.weight: 2.0, base.bias: 0.0, overlay.weight: 10.0, overlay.bias: 4.0}
    values |= {decoder.gain.weight: 1.0, decoder.gain.bias: 7.0}
    with torch.no_grad():
        for parameter, value in values.items():
            parameter.fill_(value)
        decoder.gate.copy_(torch.tensor([0.5, -1.0]))
    expected = 1.5 * 3 + 2 * torch.tensor(0.5).sigmoid() * 5
    assert_close(decoder(torch.tensor([[1.5, 0.5]])), expected.view(1, 1))


def test_the_initial_overlay_does_not_depend_on_the_common_strand() -> None:
    decoder = OverlayDecoder(nn.Linear(3, 5), nn.Linear(2, 5), common=3, salient=2)
    s, z = torch.randn(1, 2), torch.randn(6, 3)
    with torch.no_grad():
        decoder.gain[2].weight.zero_()  # no factor, and no veil at first
        added = decoder(torch.cat([z, s.expand(6, 2)], 1)) - decoder.base(z)
    assert_close(added, added[:1].expand(6, 5))
    assert added.abs().min() > 0


@pytest.mark.parametrize("cls", [ContrastVAE, PrincipledContrast, CVAE])
def test_overlay_architectures_build_an_overlay_decoder(cls: type[ContrastVAE]) -> None:
    method = build_method(
        cls, (3, 28, 28), n=10, common_dim=4, salient_dim=3, architecture="overlay:conv+mlp-small"
    )
    assert isinstance(method.decoder, OverlayDecoder) and method.decoder.sizes == (4, 3)
    assert method.decode(torch.randn(2, 7)).shape == (2, 3, 28, 28)
    assert not isinstance(build_method(cls, (3, 28, 28), n=10).decoder, OverlayDecoder)


def test_it_is_rebuilt_from_its_description() -> None:
    decoder, codes = overlay_decoder("conv"), torch.randn(2, 5)
    again = from_json(json.loads(json.dumps(to_json(decoder))))
    again.load_state_dict(decoder.state_dict())
    assert_close(again(codes), decoder(codes))


def test_an_unknown_architecture_is_named() -> None:
    with pytest.raises(ValueError, match="no architecture 'con'"):
        build_method(PrincipledContrast, (3, 28, 28), n=10, architecture="overlay:con")
