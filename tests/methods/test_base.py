"""What a method is, src/unbraid/methods/base.py."""

import inspect
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.tiny import METHODS, make
from unbraid.methods import VAE, AdaGVAE, BetaTCVAE, BetaVAE, FactorVAE, base
from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import Method, build_method, built_arguments, method_reference
from unbraid.nn import ConvEncoder, MLPDecoder, MLPEncoder
from unbraid.objectives import Normal
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations, PairBatch, Terms


class EncoderOnly(Method[Batch]):
    """A method without a decoder, from outside the package."""

    @property
    def strands(self) -> Strands:
        return Strands.from_sizes(codes=2)

    def loss(self, batch: Batch) -> Terms:
        return Terms(batch.x.sum(), {})

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return x


def test_the_name_is_that_of_the_file_or_of_a_class_from_elsewhere() -> None:
    assert (BetaVAE.name(), AdaGVAE.name(), EncoderOnly.name()) == ("beta-vae", "ada-gvae", "EncoderOnly")


def test_a_class_of_somebody_else_is_never_taken_for_one_of_unbraid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if a package registers it under the name of one."""

    class Other(EncoderOnly):
        """A method that a package calls beta-vae."""

    monkeypatch.setattr(Other, "name", classmethod(lambda cls: "beta-vae"))
    monkeypatch.setattr(base, "plugin_name", lambda group, code: "beta-vae")
    assert method_reference(BetaVAE) == "beta-vae"
    assert method_reference(Other).endswith("Other")


def test_the_batch_is_the_one_in_brackets() -> None:
    assert BetaVAE.batch_type is Batch and AdaGVAE.batch_type is PairBatch and EncoderOnly.batch_type is Batch


def test_without_brackets_the_batch_is_of_single_observations() -> None:
    class Plain(Method):
        """Derives from the base class alone."""

    class PlainAutoencoder(Autoencoder):
        """Derives from a base class for several batch types."""

    class Adapted(AdaGVAE):
        """Derives from a method for pairs."""

    assert Plain.batch_type is Batch and PlainAutoencoder.batch_type is Batch
    assert Adapted.batch_type is PairBatch


def test_one_player_by_default_and_forward_is_the_loss() -> None:
    method = EncoderOnly()
    (player,) = method.players()
    assert player.name == "model" and (
        player.updates_per_step,
        player.batches_per_update,
        player.start_step,
    ) == (1, 1, 0)
    assert method(Batch(torch.ones(2, 2))).total == 4
    assert [player.name for player in make(FactorVAE).players()] == ["autoencoder", "critic"]


def test_what_a_method_cannot_do_it_says() -> None:
    with pytest.raises(ValueError, match="EncoderOnly has no decoder"):
        EncoderOnly().decode(torch.zeros(1, 2))


def test_the_prior_is_standard_normal() -> None:
    codes = EncoderOnly().sample_prior(20_000)
    assert codes.shape == (20_000, 2)
    assert abs(float(codes.mean())) < 0.02 and abs(float(codes.std()) - 1) < 0.02


def test_the_step_is_kept_with_the_weights() -> None:
    method = EncoderOnly()
    method.step += 7
    other = EncoderOnly()
    other.load_state_dict(method.state_dict())
    assert int(other.step) == 7


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.name())
def test_every_method_is_made_for_images_and_rows(cls: type[Method]) -> None:
    sizes: dict[str, Any] = {"n": 100, "classes": 3, "nuisances": (2, 3), "latent_dim": 5}
    method = build_method(cls, (3, 28, 28), **sizes)
    codes = 5 if "latent_dim" in cls.code_size_options else method.strands.size
    assert method.encode(torch.rand(2, 3, 28, 28)).shape == (2, codes)
    family = {"likelihood": Normal()} if "likelihood" in inspect.signature(cls).parameters else {}
    rows = build_method(cls, (6,), architecture="mlp", **sizes, **family)
    codes = 5 if "latent_dim" in cls.code_size_options else rows.strands.size
    assert rows.encode(torch.rand(2, 6)).shape == (2, codes)


def test_parameters_are_filled_by_name() -> None:
    assert build_method(BetaTCVAE, (1, 32, 32), n=123).n == 123
    assert build_method(FactorVAE, (1, 32, 32), n=123, latent_dim=7).critic.latent_dim == 7
    encoder = build_method(BetaVAE, (1, 32, 32), n=1, architecture="conv-burgess").encoder
    assert isinstance(encoder, ConvEncoder) and encoder.arguments["variant"] == "burgess"


def test_networks_and_sizes_are_not_options() -> None:
    assert built_arguments(FactorVAE) == ("encoder", "decoder", "critic")
    assert "n" in built_arguments(BetaTCVAE) and "beta" not in built_arguments(BetaTCVAE)


def test_settings_are_passed_on() -> None:
    assert build_method(BetaVAE, (1, 32, 32), n=1, beta=2.5).beta == 2.5


def test_custom_networks_are_used() -> None:
    encoder, decoder = MLPEncoder((4,), 3, hidden=()), MLPDecoder(3, (4,), hidden=())
    method = build_method(FactorVAE, (4,), n=1, encoder=encoder, decoder=decoder)
    assert method.encoder is encoder and method.decoder is decoder and method.critic.latent_dim == 3


def test_an_unknown_option_gets_the_nearest_name() -> None:
    with pytest.raises(ValueError, match=r"no option of beta-vae 'bata'.*beta.*likelihood"):
        build_method(BetaVAE, (1, 32, 32), n=1, bata=2.0)
    with pytest.raises(ValueError, match=r"no option of vae 'beta'"):
        build_method(VAE, (1, 32, 32), n=1, beta=2.0)


def test_a_negative_beta_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"^beta must be a finite number of at least 0; got -1.0\.$"):
        build_method(BetaVAE, (1, 32, 32), n=1, beta=-1.0)
