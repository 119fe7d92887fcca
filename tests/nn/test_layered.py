"""Pictures laid over each other, src/unbraid/nn/layered.py."""

import json

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from unbraid.methods import CVAE, ContrastVAE, PrincipledContrast
from unbraid.methods.assemble import assemble
from unbraid.nn import Layered, networks
from unbraid.settings import describe, rebuild


def layered(name: str = "mlp-small", shape: tuple[int, ...] = (3, 28, 28)) -> Layered:
    torch.manual_seed(0)
    under, over = (networks(name, shape, codes)[1] for codes in (3, 2))
    made = Layered(under, over, common=3, salient=2)
    with torch.no_grad():
        made.veil.copy_(torch.tensor([0.7, -0.4]))
    return made


@pytest.mark.parametrize(
    ("name", "shape"), [("mlp-small", (5,)), ("conv", (3, 28, 28)), ("conv-contrast", (3, 28, 28))]
)
def test_without_a_salient_code_the_under_layer_is_all_there_is(name: str, shape: tuple[int, ...]) -> None:
    decoder, z = layered(name, shape), torch.randn(4, 3)
    codes = torch.cat([z, torch.zeros(4, 2)], 1)
    assert_close(decoder(codes), decoder.under(z), atol=1e-6, rtol=1e-5)


def test_by_hand() -> None:
    """a = 2 z, t = 10 s + 4, g = s: at z = 1.5 and s = 0.5 x = 1.5 · 3 + 2 σ(0.5 · 3 - 1) · 5."""
    under, over = nn.Linear(1, 1), nn.Linear(1, 1)
    decoder = Layered(under, over, common=1, salient=1)
    decoder.gain = nn.Linear(1, 1)
    values = {under.weight: 2.0, under.bias: 0.0, over.weight: 10.0, over.bias: 4.0}
    values |= {decoder.gain.weight: 1.0, decoder.gain.bias: 7.0}
    with torch.no_grad():
        for parameter, value in values.items():
            parameter.fill_(value)
        decoder.veil.copy_(torch.tensor([0.5, -1.0]))
    expected = 1.5 * 3 + 2 * torch.tensor(0.5).sigmoid() * 5
    assert_close(decoder(torch.tensor([[1.5, 0.5]])), expected.view(1, 1))


def test_what_salient_codes_add_does_not_depend_on_common_ones_at_first() -> None:
    decoder = Layered(nn.Linear(3, 5), nn.Linear(2, 5), common=3, salient=2)
    s, z = torch.randn(1, 2), torch.randn(6, 3)
    with torch.no_grad():
        decoder.gain[2].weight.zero_()  # no factor, and no veil at first
        added = decoder(torch.cat([z, s.expand(6, 2)], 1)) - decoder.under(z)
    assert_close(added, added[:1].expand(6, 5))
    assert added.abs().min() > 0


@pytest.mark.parametrize("cls", [ContrastVAE, PrincipledContrast, CVAE])
def test_methods_of_target_and_background_are_given_one(cls: type[ContrastVAE]) -> None:
    method = assemble(cls, (3, 28, 28), n=10, common=4, salient=3, layers="mlp-small", architecture="conv")
    assert isinstance(method.decoder, Layered) and method.decoder.sizes == (4, 3)
    assert method.decode(torch.randn(2, 7)).shape == (2, 3, 28, 28)
    assert not isinstance(assemble(cls, (3, 28, 28), n=10).decoder, Layered)


def test_it_is_rebuilt_from_its_description() -> None:
    decoder, codes = layered("conv"), torch.randn(2, 5)
    again = rebuild(json.loads(json.dumps(describe(decoder))))
    again.load_state_dict(decoder.state_dict())
    assert_close(again(codes), decoder(codes))


def test_an_unknown_architecture_is_named() -> None:
    with pytest.raises(ValueError, match="no architecture 'con'"):
        assemble(PrincipledContrast, (3, 28, 28), n=10, layers="con")
