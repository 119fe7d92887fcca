"""Steps of stacked models, src/unbraid/training/stacked_step.py."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Generator, Tensor
from torch.testing import assert_close

from tests.tiny import METHODS, batch_for, make
from unbraid.methods import BetaVAE, ClosedForm, FactorVAE, SequentialIntervention
from unbraid.methods.base import Method, Player
from unbraid.optimizers import SGD, Adam, RMSprop
from unbraid.schedules import Linear
from unbraid.training.stacked_player import NotStackableError
from unbraid.training.stacked_step import StackedDetector, StackedStep, stack_batches, terms_of
from unbraid.training.step import NonFiniteDetector, TrainingStep
from unbraid.types import Batch, Terms

MODELS, STEPS = 3, 4
TRAINED = [cls for cls in METHODS if not issubclass(cls, ClosedForm)]
SLOW = Linear(1.0, 0.1, 5)


def kinds(
    cls: type[Method], options: list[dict[str, Any]] | None = None, **settings: Any
) -> list[TrainingStep]:
    """Steps of models that differ in their weights, and in the options."""
    each = options or [{}] * MODELS
    return [TrainingStep(make(cls, seed=seed, **own), **settings) for seed, own in enumerate(each)]


class Pools:
    """Batches of each model: a new one at every draw."""

    def __init__(self, cls: type[Method]) -> None:
        self.cls, self.drawn = cls, [0] * MODELS

    def of(self, number: int) -> Any:
        self.drawn[number] += 1
        return batch_for(self.cls, seed=100 * number + self.drawn[number])

    def stacked(self) -> Any:
        return stack_batches([self.of(number) for number in range(MODELS)])


def alone(members: list[TrainingStep], steps: int = STEPS, start: int = 0) -> list[list[dict[str, Terms]]]:
    """Trains each model by itself; its terms by step."""
    cls = type(members[0].method)
    pools, history = Pools(cls), []
    for number, member in enumerate(members):
        torch.manual_seed(number)
        history.append([member.run(lambda n=number: pools.of(n), start + step) for step in range(steps)])
    return history


def together(members: list[TrainingStep], steps: int = STEPS, **settings: Any) -> list[dict[str, Terms]]:
    """Trains the models as a stack; their terms by step."""
    cls = type(members[0].method)
    noise = [Generator().manual_seed(number) for number in range(MODELS)]
    stacked, pools = StackedStep(members, noise, **settings), Pools(cls)
    return [stacked.run(pools.stacked, step) for step in range(steps)]


def assert_same(one: list[TrainingStep], other: list[TrainingStep]) -> None:
    for a, b in zip(one, other, strict=True):
        assert_close(a.state(), b.state(), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("cls", TRAINED, ids=lambda cls: cls.name())
def test_every_model_takes_the_steps_that_it_takes_alone(cls: type[Method]) -> None:
    """Weights, optimizer states, buffers and terms of every method, in float64."""
    own, members = kinds(cls), kinds(cls)
    expected, found = alone(own), together(members)
    for number in range(MODELS):
        for step in range(STEPS):
            assert_close(
                {name: terms.detached() for name, terms in terms_of(found[step], number).items()},
                {name: terms.detached() for name, terms in expected[number][step].items()},
                rtol=1e-5,
                atol=1e-8,
            )
    assert_same(members, own)
    assert all(int(member.method.step) == STEPS for member in members)


def test_models_keep_their_own_numbers() -> None:
    options = [{"beta": beta} for beta in (1.0, 4.0, 16.0)]
    own, members = kinds(BetaVAE, options), kinds(BetaVAE, options)
    alone(own)
    together(members, varying=frozenset({"beta", "unknown"}))
    assert_same(members, own)


@pytest.mark.parametrize(
    "settings",
    [
        {"grad_clip": 0.5},
        {"lr_schedule": SLOW},
        {"optimizer": SGD(lr=1e-3, momentum=0.9)},
        {"optimizer": RMSprop()},
        {"optimizer": Adam(weight_decay=0.1), "grad_clip": 2.0, "lr_schedule": SLOW},
    ],
    ids=["clip", "schedule", "sgd", "rmsprop", "all"],
)
def test_settings_of_the_training_hold_for_each_model(settings: dict[str, Any]) -> None:
    own, members = kinds(FactorVAE, **settings), kinds(FactorVAE, **settings)
    alone(own)
    together(members)
    assert_same(members, own)


def test_frozen_parameters_stay_and_their_optimizers_start_afresh() -> None:
    settings = {
        "beta": 1.0,
        "lambda_translation": 0.0,
        "feature_schedule": Linear(1.0, 3.0, 4),
        "freeze_learned": True,
        "num_features": 3,
        "feature_dim": 2,
    }
    own, members = (kinds(SequentialIntervention, [settings] * MODELS) for _ in range(2))
    alone(own, 6)
    together(members, 6)
    assert_same(members, own)


def test_a_model_goes_on_alone_with_its_part_of_the_stack() -> None:
    """What a checkpoint holds of a stacked model is enough, and a stack can be made of models that have trained."""
    own, members = kinds(FactorVAE), kinds(FactorVAE)
    alone(own, 3), alone(own, 3, start=3)
    alone(members, 3)
    noise = [Generator().manual_seed(number) for number in range(MODELS)]
    stacked, pools = StackedStep(members, noise), Pools(FactorVAE)
    for step in range(3, 5):
        stacked.run(pools.stacked, step)
    saved = {name: tensor.clone() for name, tensor in members[1].state().items()}
    stacked.run(pools.stacked, 5)
    assert_same(members, own)
    (fresh,) = kinds(FactorVAE, [{}])
    fresh.restore(saved)
    again = Pools(FactorVAE)
    again.drawn = [4] * MODELS  # two batches a step
    torch.set_rng_state(_noise_after(2))
    fresh.run(lambda: again.of(1), 5)
    assert_close(fresh.state(), members[1].state(), rtol=1e-5, atol=1e-8)


def _noise_after(steps: int) -> Tensor:
    """The state of the noise of model 1 after so many steps."""
    (member,) = kinds(FactorVAE, [{}])
    pools = Pools(FactorVAE)
    torch.manual_seed(1)
    for step in range(steps):
        member.run(lambda: pools.of(1), step)
    return torch.get_rng_state()


def test_released_models_no_longer_share_anything() -> None:
    members = kinds(BetaVAE)
    noise = [Generator().manual_seed(number) for number in range(MODELS)]
    stacked = StackedStep(members, noise)
    stacked.run(Pools(BetaVAE).stacked, 0)
    before = [{name: tensor.clone() for name, tensor in member.state().items()} for member in members]
    stacked.release()
    members[0].run(lambda: Pools(BetaVAE).of(0), 1)
    assert_close([member.state() for member in members[1:]], before[1:], rtol=0, atol=0)
    assert not torch.equal(members[0].state()["optimizer.model.0.step"], before[0]["optimizer.model.0.step"])


def test_one_models_nan_reaches_no_other_and_is_found_in_its_own_terms() -> None:
    members, own = kinds(BetaVAE, grad_clip=1.0), kinds(BetaVAE, grad_clip=1.0)
    noise = [Generator().manual_seed(number) for number in range(MODELS)]
    detectors = [NonFiniteDetector() for _ in members]
    stacked, pools, found = StackedStep(members, noise), Pools(BetaVAE), StackedDetector(detectors)

    def draw() -> Batch:
        batch = pools.stacked()
        if int(stacked.buffers["step"][0]) == 1:
            batch.x[1, 0, 0, 0, 0] = torch.nan
        return batch

    for step in range(STEPS):
        terms = stacked.run(draw, step)
        found.record(stacked.buffers["step"], terms)
    alone(own)
    assert_same([members[0], members[2]], [own[0], own[2]])
    detectors[0].raise_if_found(Path())
    with pytest.raises(FloatingPointError, match="loss, nll, kl of model became NaN or infinite at step 2"):
        detectors[1].raise_if_found(Path())
    assert not bool(terms["model"].total[1].isfinite()) and bool(terms["model"].total[2].isfinite())


def test_models_that_are_not_of_one_kind_are_refused() -> None:
    noise = [Generator() for _ in range(2)]
    shapes = [TrainingStep(make(BetaVAE)), TrainingStep(make(FactorVAE))]
    with pytest.raises(NotStackableError, match="different shapes"):
        StackedStep(shapes, noise)
    at_another_step = kinds(BetaVAE, [{}, {}])
    at_another_step[0].run(lambda: batch_for(BetaVAE), 0)
    with pytest.raises(NotStackableError, match="different steps"):
        StackedStep(at_another_step, noise)


def test_a_loss_that_is_no_method_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def players(self: BetaVAE) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), lambda batch: self.loss(batch)),)

    monkeypatch.setattr(BetaVAE, "players", players)
    with pytest.raises(NotStackableError, match="the loss of model is no method of BetaVAE"):
        StackedStep(kinds(BetaVAE), [Generator() for _ in range(MODELS)])
