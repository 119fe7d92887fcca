"""What methods that predict share, src/unbraid/methods/predictor.py."""

import math

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import METHODS, batch_for, make
from unbraid.methods import CNN
from unbraid.methods.assemble import assemble
from unbraid.methods.base import Method
from unbraid.methods.predictor import Predictor, accuracy, cross_entropy
from unbraid.nn import ConvEncoder

PREDICTORS = [cls for cls in METHODS if issubclass(cls, Predictor)]
every_predictor = pytest.mark.parametrize("cls", PREDICTORS, ids=lambda cls: cls.name())


def test_cross_entropy_and_accuracy_by_hand() -> None:
    """Of logits (0, ln 3) class 1 has 3/4: once it is right, once the truth had 1/4."""
    logits, labels = torch.tensor([[0.0, math.log(3)]] * 2), torch.tensor([1, 0])
    assert_close(cross_entropy(logits, labels).item(), 0.5 * (math.log(4 / 3) + math.log(4)))
    assert accuracy(logits, labels) == 0.5


@every_predictor
def test_data_without_a_label_are_refused_in_one_sentence(cls: type[Method]) -> None:
    with pytest.raises(
        ValueError, match=rf"^{cls.name()} learns to predict a label .* data has none: use .*\.$"
    ):
        assemble(cls, (1, 28, 28), n=10)


@every_predictor
def test_a_batch_without_labels_is_refused(cls: type[Method]) -> None:
    with pytest.raises(ValueError, match="the batch has none: use a dataset with a label"):
        make(cls).loss(batch_for(cls)._replace(labels=None))


@every_predictor
def test_predictions_come_from_the_default_strand(cls: type[Predictor]) -> None:
    method, batch = make(cls), batch_for(cls)
    codes = method.encode(batch[0])
    read = codes[:, list(method.strands[method.strands.default])]
    assert_close(method.predict(batch[0]), method.classifier(read))


@every_predictor
def test_validation_is_the_cross_entropy_of_held_out_observations(cls: type[Predictor]) -> None:
    method, batch = make(cls).eval(), batch_for(cls)
    logits = method.predict(batch[0], batch.nuisances)
    terms = method.validation(batch)
    assert_close(terms.total, F.cross_entropy(logits, batch.labels))
    assert_close(terms.parts["accuracy"].item(), (logits.argmax(1) == batch.labels).double().mean().item())


def test_an_encoder_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="The strands have 128 codes in all, and the encoder puts out 3"):
        assemble(CNN, (1, 28, 28), n=1, classes=2, encoder=ConvEncoder((1, 28, 28), 3))
