"""Methods from names and numbers, src/unbraid/methods/assemble.py."""

import inspect
from typing import Any

import pytest
import torch

from tests.tiny import METHODS
from unbraid.methods import VAE, BetaTCVAE, BetaVAE, FactorVAE
from unbraid.methods.assemble import assemble, filled
from unbraid.methods.base import Method
from unbraid.nn import ConvEncoder, MLPDecoder, MLPEncoder
from unbraid.objectives import Normal


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.name())
def test_every_method_is_made_for_images_and_rows(cls: type[Method]) -> None:
    sizes: dict[str, Any] = {"n": 100, "classes": 3, "nuisances": (2, 3), "codes": 5}
    method = assemble(cls, (3, 28, 28), **sizes)
    codes = method.strands.size if cls.sizes_strands else 5
    assert method.encode(torch.rand(2, 3, 28, 28)).shape == (2, codes)
    family = {"likelihood": Normal()} if "likelihood" in inspect.signature(cls).parameters else {}
    rows = assemble(cls, (6,), architecture="mlp", **sizes, **family)
    codes = rows.strands.size if cls.sizes_strands else 5
    assert rows.encode(torch.rand(2, 6)).shape == (2, codes)


def test_parameters_are_filled_by_name() -> None:
    assert assemble(BetaTCVAE, (1, 32, 32), n=123).n == 123
    assert assemble(FactorVAE, (1, 32, 32), n=123, codes=7).critic.codes == 7
    encoder = assemble(BetaVAE, (1, 32, 32), n=1, architecture="conv-burgess").encoder
    assert isinstance(encoder, ConvEncoder) and encoder.arguments["variant"] == "burgess"


def test_networks_and_sizes_are_no_settings() -> None:
    assert filled(FactorVAE) == ("encoder", "decoder", "critic")
    assert "n" in filled(BetaTCVAE) and "beta" not in filled(BetaTCVAE)


def test_settings_are_passed_on() -> None:
    assert assemble(BetaVAE, (1, 32, 32), n=1, beta=2.5).beta == 2.5


def test_networks_of_one_s_own_are_used() -> None:
    encoder, decoder = MLPEncoder((4,), 3, hidden=()), MLPDecoder(3, (4,), hidden=())
    method = assemble(FactorVAE, (4,), n=1, encoder=encoder, decoder=decoder)
    assert method.encoder is encoder and method.decoder is decoder and method.critic.codes == 3


def test_an_unknown_setting_gets_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"no setting of beta-vae 'bata'.*beta.*likelihood"):
        assemble(BetaVAE, (1, 32, 32), n=1, bata=2.0)
    with pytest.raises(ValueError, match=r"no setting of vae 'beta'"):
        assemble(VAE, (1, 32, 32), n=1, beta=2.0)


def test_a_negative_beta_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"^beta must be a finite number of at least 0; got -1.0\.$"):
        assemble(BetaVAE, (1, 32, 32), n=1, beta=-1.0)
