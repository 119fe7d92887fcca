"""Losses compiled once for all models of a kind, src/unbraid/training/compile.py."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import batch_for, make
from unbraid.methods import BetaVAE, FactorVAE
from unbraid.methods.base import Player
from unbraid.training.compile import compile_loss


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Takes the compiler out, which takes half a minute, and counts what it was asked to compile."""
    asked: list[object] = []

    def keep(function: object, **options: object) -> object:
        asked.append(function)
        return function

    monkeypatch.setattr(torch, "compile", keep)
    monkeypatch.setattr("unbraid.training.compile._compiled_losses", {})
    return asked


def own(player: Player) -> Player:
    return replace(player, parameters=list(player.parameters))


def test_models_of_a_kind_share_one_loss_and_keep_their_own_numbers(counted: list[object]) -> None:
    batch = batch_for(BetaVAE)
    for seed, beta in enumerate((1.0, 4.0, 8.0)):
        method = make(BetaVAE, seed=seed, beta=beta)
        (player,) = method.players()
        loss = compile_loss(method, own(player), varying=frozenset({"beta"}))
        weights = list(method.parameters())
        torch.manual_seed(5)
        got = loss(batch).total
        torch.manual_seed(5)
        expected = method.loss(batch).total
        assert_close(got, expected)
        assert_close(torch.autograd.grad(got, weights), torch.autograd.grad(expected, weights))
    assert len(counted) == 1


def test_numbers_that_are_not_varying_are_fixed_in_the_loss(counted: list[object]) -> None:
    for beta in (1.0, 4.0):
        method = make(BetaVAE, beta=beta)
        compile_loss(method, own(method.players()[0]))
    assert len(counted) == 2


def test_gradients_reach_the_players_own_parameters_alone() -> None:
    method, batch = make(FactorVAE), batch_for(FactorVAE)
    model, critic = (own(player) for player in method.players())
    total = compile_loss(method, model)(*[batch] * model.batches_per_update).total
    mine = torch.autograd.grad(total, list(model.parameters), retain_graph=True)
    assert all(bool(gradient.isfinite().all()) for gradient in mine)
    others = torch.autograd.grad(total, list(critic.parameters), allow_unused=True)
    assert all(gradient is None for gradient in others)


def test_a_loss_that_is_no_method_is_compiled_for_itself(counted: list[object]) -> None:
    method = make(BetaVAE)
    loss = compile_loss(method, Player("model", list(method.parameters()), lambda batch: method.loss(batch)))
    assert len(counted) == 1 and loss is counted[0]
