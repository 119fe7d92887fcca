"""One training step of several models of one kind: every layer, gradient and update of all models at once.

Weights, buffers and optimizer states of the models are stacked along a new first dimension, and the models' own tensors
become views of the stack. Checkpoints, validation and post-training hooks of a model therefore read its current state
as if it trained alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from unbraid.methods import Method, Player
from unbraid.training.compile import FunctionalLoss, copy_with_buffers, is_method_of
from unbraid.training.member_noise import MemberNoise, map_models, split_tensors
from unbraid.training.stacked_compile import CompiledLoss
from unbraid.training.stacked_player import (
    NotStackableError,
    StackedPlayer,
    check_optimizers,
    stack_in_layout,
)
from unbraid.training.step import NonFiniteDetector, PlayerState, TrainingStep
from unbraid.types import Terms


class StackedStep(TrainingStep):
    """The training steps of several models as one step.

    The models differ in weights, buffers and `varying` options only, and are at the same step. `run` draws batches
    whose tensors have the models as their first dimension, and returns terms that have it, too.

    Args:
        members: The models' own steps; from now on their weights and optimizer states are views of the stack.
        noise: The models' generators of the noise inside losses.
        varying: Numeric options in which the models may differ.
        compiled: Whether losses with their gradients are compiled.
    """

    def __init__(
        self,
        members: Sequence[TrainingStep],
        noise: Sequence[Generator],
        *,
        varying: frozenset[str] = frozenset(),
        compiled: bool = False,
    ) -> None:
        first = members[0]
        methods = [member.method for member in members]
        self.members, self.noise = list(members), list(noise)
        self.optimizer, self.lr_schedule, self.grad_clip = first.optimizer, first.lr_schedule, first.grad_clip
        self.precision, self.compiled = first.precision, compiled
        _check(members)
        names = [n for n in sorted(varying) if all(isinstance(m.__dict__.get(n), float) for m in methods)]
        self.method = copy_with_buffers(first.method, names)  # its weights are never used
        self.numbers = torch.arange(len(members), device=self.method.step.device)
        self.parameters = {
            name: nn.Parameter(_stack([dict(method.named_parameters())[name] for method in methods]))
            for name, _ in first.method.named_parameters()
        }
        for name, parameter in first.method.named_parameters():
            self.parameters[name].requires_grad_(parameter.requires_grad)
        self.buffers = {
            name: _stack([dict(method.named_buffers())[name] for method in methods])
            for name, _ in first.method.named_buffers()
        }
        self.options = {
            name: torch.tensor([float(getattr(method, name)) for method in methods]).to(
                self.method.step.device
            )
            for name in names
        }
        by_id = {id(p): self.parameters[name] for name, p in first.method.named_parameters()}
        self.player_states = [
            StackedPlayer(
                self._player(index, state, by_id), state, [member.player_states[index] for member in members]
            )
            for index, state in enumerate(first.player_states)
        ]

    def run(self, draw_batch: Callable[[], Any], step: int) -> dict[str, Terms]:
        terms = super().run(draw_batch, step)
        self.buffers["step"] += 1
        return terms

    def release(self) -> None:
        """Gives every model tensors of its own again, so that it can train by itself."""
        for member in self.members:
            for tensor in (*member.method.parameters(), *member.method.buffers()):
                tensor.data = tensor.data.clone()
            for state in member.player_states:
                for entries in state.optimizer.state.values():
                    entries |= {
                        key: value.clone() for key, value in entries.items() if isinstance(value, Tensor)
                    }

    def _player(self, index: int, state: PlayerState, by_id: dict[int, nn.Parameter]) -> Player:
        """A player of the first model with stacked parameters and the loss of all models."""
        player, functional = state.player, FunctionalLoss(self.method, state.player.loss.__name__)
        parameters = [by_id[id(parameter)] for parameter in player.parameters]
        return replace(
            player,
            parameters=parameters,
            loss=self._compiled_loss(index, functional)
            if self.compiled
            else self._loss(functional, parameters),
            frozen=lambda step: [by_id[id(parameter)] for parameter in player.frozen(step)],
        )

    def _compiled_loss(self, index: int, functional: FunctionalLoss) -> CompiledLoss:
        return CompiledLoss(
            functional,
            self.parameters,
            self.buffers | self.options,
            lambda: self.player_states[index].trainable,
            self.noise,
            list(self.options),
        )

    def _loss(self, functional: FunctionalLoss, own: Sequence[nn.Parameter]) -> Callable[..., Terms]:
        """The loss of all models as a function of stacked batches; without gradients for other players' parameters."""
        trainable = {id(parameter) for parameter in own}
        generators: dict[Generator | None, list[Generator]] = {None: self.noise}

        def loss(*batches: Any) -> Terms:
            parameters = {
                key: parameter if id(parameter) in trainable else parameter.detach()
                for key, parameter in self.parameters.items()
            }
            tensors, rebuild = split_tensors(batches)

            def of_one(state: dict[str, Tensor], number: Tensor, *tensors: Tensor) -> Terms:
                with MemberNoise(generators, number):
                    return functional.loss(state, *rebuild(tensors))

            return map_models(of_one, parameters | self.buffers | self.options, self.numbers, *tensors)

        return loss


class StackedDetector:
    """Records at which step each player of each model first had a term that is not finite.

    Args:
        members: The models' own detectors, which read what this one records.
    """

    def __init__(self, members: Sequence[NonFiniteDetector]) -> None:
        self._members = members
        self._first_found: dict[str, tuple[Tensor, Tensor]] = {}

    def record(self, steps: Tensor, terms: dict[str, Terms]) -> None:
        """Checks the terms of one step. Tensors are updated in place, as CUDA graphs require."""
        for player, player_terms in terms.items():
            nonfinite = ~torch.isfinite(
                torch.stack([player_terms.total, *player_terms.by_name.values()], 1)
            ).detach()
            if player not in self._first_found:
                first, at_first = torch.zeros_like(steps), torch.zeros_like(nonfinite)
                self._first_found[player] = first, at_first
                for number, member in enumerate(self._members):
                    member.adopt(player, player_terms.names, first[number], at_first[number])
            first, at_first = self._first_found[player]
            is_first = nonfinite.any(1) & (first == 0)
            at_first.copy_(torch.where(is_first[:, None], nonfinite, at_first))
            first.copy_(torch.where(is_first, steps, first))


def terms_of(terms: dict[str, Terms], number: int) -> dict[str, Terms]:
    """The terms of one model."""
    return tree_map(lambda tensor: tensor[number], terms)


def stack_batches(batches: Sequence[Any]) -> Any:
    """Batches of the models as one batch with the models as first dimension; fields that are None stay None."""
    flat = [tree_flatten(batch) for batch in batches]
    columns = zip(*(leaves for leaves, _ in flat), strict=True)
    stacked = [torch.stack(column) if isinstance(column[0], Tensor) else column[0] for column in columns]
    return tree_unflatten(stacked, flat[0][1])


def _check(members: Sequence[TrainingStep]) -> None:
    """Raises unless the models are of one kind."""
    first = members[0]
    if not first.player_states:
        raise NotStackableError("the method has no players")
    for member in members:
        for state in member.player_states:
            if not is_method_of(member.method, state.player.loss):
                cls = type(member.method).__name__
                raise NotStackableError(f"the loss of {state.player.name} is no method of {cls}")
        if _shapes(member.method) != _shapes(first.method):
            raise NotStackableError("their weights have different shapes")
    if len({int(member.method.step) for member in members}) > 1:
        raise NotStackableError("they are at different steps")
    for index in range(len(first.player_states)):
        check_optimizers([member.player_states[index] for member in members])


def _shapes(method: Method) -> dict[str, tuple[torch.Size, torch.dtype]]:
    tensors = [*method.named_parameters(), *method.named_buffers()]
    return {name: (tensor.shape, tensor.dtype) for name, tensor in tensors}


def _stack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors as one, of which they become views."""
    stack = stack_in_layout([tensor.detach() for tensor in tensors])
    for number, tensor in enumerate(tensors):
        tensor.data = stack[number]
    return stack
