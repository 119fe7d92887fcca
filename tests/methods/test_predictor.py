"""What methods that predict share, src/unbraid/methods/predictor.py."""

import math
from inspect import signature
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import METHODS, batch_for, make, networks
from unbraid.methods import CNN
from unbraid.methods.base import Method, build_method
from unbraid.methods.predictor import Predictor, accuracy, cross_entropy
from unbraid.nn import ConvEncoder
from unbraid.objectives import Normal
from unbraid.optimizers import Adam
from unbraid.training.step import TrainingStep
from unbraid.types import Batch, PairBatch

PREDICTORS = [cls for cls in METHODS if issubclass(cls, Predictor)]
every_predictor = pytest.mark.parametrize("cls", PREDICTORS, ids=lambda cls: cls.name())


def test_cross_entropy_and_accuracy_by_hand() -> None:
    """Of logits (0, ln 3) class 1 has 3/4: once it is right, once the truth had 1/4."""
    logits, labels = torch.tensor([[0.0, math.log(3)]] * 2), torch.tensor([1, 0])
    assert_close(cross_entropy(logits, labels).item(), 0.5 * (math.log(4 / 3) + math.log(4)))
    assert accuracy(logits, labels) == 0.5


@every_predictor
def test_data_without_a_label_are_refused(cls: type[Method]) -> None:
    required = (
        rf"^{cls.name()} requires a label of at least two classes, and the dataset has none\. Use .*\.$"
    )
    with pytest.raises(ValueError, match=required):
        build_method(cls, (1, 28, 28), n=10)


@every_predictor
def test_a_batch_without_labels_is_refused(cls: type[Method]) -> None:
    with pytest.raises(ValueError, match=r"the batch has none\. Use a dataset with a label"):
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
    terms = method.validation_loss(batch)
    assert_close(terms.total, F.cross_entropy(logits, batch.labels))
    assert_close(terms.by_name["accuracy"].item(), (logits.argmax(1) == batch.labels).double().mean().item())


def test_an_encoder_of_another_size_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"The strands have 128 dimensions in total, and the encoder has 3\."
    ):
        build_method(CNN, (1, 28, 28), n=1, classes=2, encoder=ConvEncoder((1, 28, 28), 3))


def rows(size: int, *, seed: int) -> Batch:
    """A class in three columns and a nuisance that shifts all of them, so that invariant codes exist."""
    generator = torch.Generator().manual_seed(seed)
    labels, s = (torch.randint(3, (size,), generator=generator) for _ in range(2))
    x = F.one_hot(labels, 3) + s[:, None] + 0.1 * torch.randn(size, 3, generator=generator)
    return Batch(x, labels, s[:, None])


@every_predictor
def test_every_predictor_learns_the_rows_of_a_table(cls: type[Predictor]) -> None:
    """Trained with all players and default options; tested on new rows."""
    settings: dict[str, Any] = (
        {"likelihood": Normal(0.1)} if "likelihood" in signature(cls).parameters else {}
    )
    settings |= (
        {"updates_per_step": 1} if "updates_per_step" in signature(cls).parameters else {}
    )  # ten updates are slow
    with patch("unbraid.methods.base.build_networks", networks):
        method = build_method(
            cls, (3,), n=1, classes=3, nuisances=(3,), architecture="mlp", seed=0, **settings
        )
    game, batches = TrainingStep(method, optimizer=Adam(5e-3)), iter(range(10**6))

    def draw() -> Any:
        batch = rows(64, seed=next(batches))
        if cls.batch_type is Batch:
            return batch
        other = batch.x - batch.nuisances + torch.randint(3, (64, 1))  # type: ignore[operator]
        return PairBatch(batch.x, other, torch.ones(64, dtype=torch.long), batch.labels)

    for step in range(120):
        game.run(draw, step)
    assert method.eval().validation_loss(rows(500, seed=10**6)).by_name["accuracy"] > 0.95
