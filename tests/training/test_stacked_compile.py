"""Compiled losses of stacked models, src/unbraid/training/stacked_compile.py."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Generator
from torch.testing import assert_close

from tests.tiny import normalized
from tests.training.test_stacked_step import MODELS, Pools, alone, assert_same, kinds, together
from unbraid.methods import BetaVAE, FactorVAE, InfoGANCR, PrincipledContrast, SequentialIntervention
from unbraid.methods.base import Method
from unbraid.schedules import Linear
from unbraid.training.stacked_step import StackedStep, stack_batches
from unbraid.training.step import TrainingStep
from unbraid.types import Batch

pytestmark = pytest.mark.filterwarnings("ignore")  # the compiler's own


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Takes the compiler out, which takes half a minute, and counts what it was asked to compile."""
    asked: list[object] = []

    def keep(function: Callable[..., Any], **options: object) -> Callable[..., Any]:
        asked.append(function)
        return function

    monkeypatch.setattr(torch, "compile", keep)
    monkeypatch.setattr("unbraid.training.stacked_compile._traced", {})
    return asked


@pytest.mark.parametrize(
    "cls", [BetaVAE, FactorVAE, PrincipledContrast, InfoGANCR], ids=lambda cls: cls.name()
)
def test_traced_losses_have_the_gradients_and_the_noise_of_others(
    cls: type[Method], counted: list[object]
) -> None:
    own, members = kinds(cls), kinds(cls)
    alone(own)
    together(members, compiled=True)
    assert_same(members, own)
    players = len(members[0].player_states)
    assert len(counted) == players  # once each, and not at every step


def test_stacks_of_a_kind_share_what_was_compiled_and_keep_their_numbers(counted: list[object]) -> None:
    for first in (1.0, 5.0):
        options = [{"beta": first + number} for number in range(MODELS)]
        own, members = kinds(BetaVAE, options), kinds(BetaVAE, options)
        alone(own)
        together(members, compiled=True, varying=frozenset({"beta"}))
        assert_same(members, own)
    assert len(counted) == 1
    together(kinds(BetaVAE), compiled=True)  # the number is part of the loss
    assert len(counted) == 2


def test_another_set_of_frozen_parameters_is_another_function(counted: list[object]) -> None:
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
    together(members, 6, compiled=True)
    assert_same(members, own)
    assert len(counted) > len(members[0].player_states)


def test_running_statistics_are_updated(counted: list[object]) -> None:
    batches = [Batch(torch.rand(4, 1, 28, 28, generator=Generator().manual_seed(n))) for n in range(2)]
    own, members = ([TrainingStep(normalized(BetaVAE)) for _ in range(2)] for _ in range(2))
    for number, step in enumerate(own):
        torch.manual_seed(number)
        step.run(lambda n=number: batches[n], 0)
    noise = [Generator().manual_seed(number) for number in range(2)]
    StackedStep(members, noise, compiled=True).run(lambda: stack_batches(batches), 0)
    assert counted
    for one, other in zip(members, own, strict=True):
        expected = {k: v for k, v in other.method.named_buffers() if "running" in k or "tracked" in k}
        found = dict(one.method.named_buffers())
        assert expected
        assert_close({name: found[name] for name in expected}, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="compiling for a CPU takes a minute")
def test_compiled_losses_have_the_numbers_of_others() -> None:
    device = torch.device("cuda")

    def stacked(*, compiled: bool) -> list[TrainingStep]:
        members = kinds(FactorVAE)
        for member in members:
            member.method.to(device)
        noise = [Generator(device).manual_seed(number) for number in range(MODELS)]
        step, pools = StackedStep(members, noise, compiled=compiled), Pools(FactorVAE)

        def draw() -> Batch:
            batch = pools.stacked()
            return batch._make(field if field is None else field.to(device) for field in batch)

        for number in range(3):
            step.run(draw, number)
        return members

    assert_same(stacked(compiled=True), stacked(compiled=False))
