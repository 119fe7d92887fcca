"""Players of stacked models, src/unbraid/training/stacked_player.py."""

from typing import Any

import pytest
import torch
from torch import nn

from tests.tiny import batch_for, make
from unbraid.methods import BetaVAE
from unbraid.optimizers import SGD, Adam, Optimizer, RMSprop
from unbraid.training.stacked_player import NotStackableError, StackedPlayer, check_optimizers
from unbraid.training.step import PlayerState, TrainingStep


class Whole(Optimizer):
    """Steps whose size depends on the whole tensor."""

    lr = 0.1

    def build(self, parameters: list[nn.Parameter], *, compiled: bool = False) -> torch.optim.Optimizer:
        class Normalized(torch.optim.SGD):
            def step(self, closure: Any = None) -> None:  # type: ignore[override]
                for parameter in parameters:
                    if parameter.grad is not None:
                        parameter.data -= 0.1 * parameter.grad / parameter.grad.norm()

        return Normalized(parameters, lr=0.1)


def players(count: int = 2, **settings: Any) -> list[PlayerState]:
    return [TrainingStep(make(BetaVAE, seed=seed), **settings).player_states[0] for seed in range(count)]


@pytest.mark.parametrize("optimizer", [Adam(), Adam(weight_decay=0.1), SGD(momentum=0.5), RMSprop()], ids=str)
def test_optimizers_that_treat_every_element_alike_can_be_one(optimizer: Optimizer) -> None:
    check_optimizers(players(optimizer=optimizer))


def test_an_optimizer_that_couples_the_elements_of_a_tensor_is_refused() -> None:
    with pytest.raises(NotStackableError, match="the optimizer Whole couples the elements of a tensor"):
        check_optimizers(players(optimizer=Whole()))


def test_optimizers_after_different_numbers_of_updates_are_refused() -> None:
    members = [TrainingStep(make(BetaVAE, seed=seed)) for seed in range(2)]
    members[0].run(lambda: batch_for(BetaVAE), 0)
    states = [member.player_states[0] for member in members]
    with pytest.raises(NotStackableError, match="different numbers of updates"):
        check_optimizers(states)
    members[1].run(lambda: batch_for(BetaVAE), 0)
    check_optimizers(states)
    members[1].run(lambda: batch_for(BetaVAE), 1)
    with pytest.raises(NotStackableError, match="different numbers of updates"):
        check_optimizers(states)


def test_the_models_optimizers_see_their_parts_of_the_one() -> None:
    members = players()
    parameters = [
        nn.Parameter(torch.stack([member.parameters[index].data for member in members]))
        for index in range(len(members[0].parameters))
    ]
    player = members[0].player
    stacked = StackedPlayer(
        type(player)(player.name, parameters, player.loss, player.optimizer), members[0], members
    )
    assert not members[0].optimizer.state
    terms = members[0].player.loss(batch_for(BetaVAE))
    total = sum(
        (number + 1) * parameter[number].square().sum() for parameter in parameters for number in (0, 1)
    )
    stacked.update(terms._replace(total=total), None)
    for number, member in enumerate(members):
        for own, parameter in zip(member.parameters, parameters, strict=True):
            entries, all_entries = member.optimizer.state[own], stacked.optimizer.state[parameter]
            assert entries["exp_avg"].data_ptr() == all_entries["exp_avg"][number].data_ptr()
            assert entries["exp_avg"].shape == own.shape and float(entries["step"]) == 1
