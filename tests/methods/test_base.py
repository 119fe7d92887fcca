"""What a method is, src/unbraid/methods/base.py."""

import pytest
import torch
from torch import Tensor

from tests.tiny import make
from unbraid.methods import AdaGVAE, BetaVAE, FactorVAE
from unbraid.methods.base import Method
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations, PairBatch, Terms


class EncoderOnly(Method[Batch]):
    """A method without a decoder, from outside the package."""

    @property
    def strands(self) -> Strands:
        return Strands.cut(codes=2)

    def loss(self, batch: Batch) -> Terms:
        return Terms(batch.x.sum(), {})

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        return x


def test_the_name_is_that_of_the_file_or_of_a_class_from_elsewhere() -> None:
    assert (BetaVAE.name(), AdaGVAE.name(), EncoderOnly.name()) == ("beta-vae", "ada-gvae", "EncoderOnly")


def test_the_batch_is_the_one_in_brackets() -> None:
    assert BetaVAE.batch is Batch and AdaGVAE.batch is PairBatch and EncoderOnly.batch is Batch


def test_one_player_by_default_and_forward_is_the_loss() -> None:
    method = EncoderOnly()
    (player,) = method.players()
    assert player.name == "model" and (player.updates, player.batches, player.start) == (1, 1, 0)
    assert method(Batch(torch.ones(2, 2))).total == 4
    assert [player.name for player in make(FactorVAE).players()] == ["autoencoder", "critic"]


def test_what_a_method_cannot_do_it_says() -> None:
    with pytest.raises(ValueError, match="EncoderOnly learns no decoder"):
        EncoderOnly().decode(torch.zeros(1, 2))


def test_the_prior_is_standard_normal() -> None:
    codes = EncoderOnly().prior(20_000)
    assert codes.shape == (20_000, 2)
    assert abs(float(codes.mean())) < 0.02 and abs(float(codes.std()) - 1) < 0.02


def test_the_step_is_kept_with_the_weights() -> None:
    method = EncoderOnly()
    method.step += 7
    other = EncoderOnly()
    other.load_state_dict(method.state_dict())
    assert int(other.step) == 7
