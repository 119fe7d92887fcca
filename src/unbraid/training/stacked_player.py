"""A player of stacked models: one optimizer for all of them, whose state each model's own optimizer sees as its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from unbraid.methods import Player
from unbraid.optimizers import Optimizer
from unbraid.training.stacked_compile import CompiledLoss
from unbraid.training.step import PlayerState
from unbraid.types import Terms

COUNTER = "step"  # entry of an optimizer: the number of its updates


class NotStackableError(ValueError):
    """Models cannot train as a stack; the message says why."""


class StackedPlayer(PlayerState):
    """A player of all models, with one optimizer.

    Args:
        player: The player, with stacked parameters.
        first: The player of the first model.
        members: The players of all models, whose optimizers' states become views of the stack.
    """

    def __init__(self, player: Player, first: PlayerState, members: Sequence[PlayerState]) -> None:
        super().__init__(player, first.settings, loss=player.loss, compiled=False)
        self._members, self._shared = members, dict[int, tuple[Tensor, ...]]()
        for index, parameter in enumerate(self.parameters):
            if (states := _entries(members, index))[0]:
                self.optimizer.state[parameter] = {key: _join(key, states) for key in states[0]}
        self._share()

    def update(self, terms: Terms, grad_clip: float | None) -> None:
        super().update(terms, grad_clip)
        self._share()

    def gradients(self, terms: Terms) -> tuple[Tensor | None, ...]:
        if isinstance(self.loss, CompiledLoss):
            return self.loss.gradients
        return torch.autograd.grad(terms.total.sum(), self.trainable, allow_unused=True)

    def _clip(self, max_norm: float) -> None:
        """Limits the norm of each model's gradient by itself."""
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        norms = torch.stack([gradient.reshape(len(gradient), -1).norm(dim=1) for gradient in gradients])
        norms = norms.norm(dim=0)
        scales = (max_norm / (norms + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(scales.view(-1, *[1] * (gradient.dim() - 1)))

    def _share(self) -> None:
        """Makes the entries of the models' optimizers views of the stack's, where they are not yet."""
        for index, parameter in enumerate(self.parameters):
            state = self.optimizer.state.get(parameter, {})
            tensors = tuple(value for value in state.values() if isinstance(value, Tensor))
            shared = self._shared.get(index, ())
            if len(tensors) == len(shared) and all(a is b for a, b in zip(tensors, shared, strict=True)):
                continue
            self._shared[index] = tensors
            for number, member in enumerate(self._members):
                own = member.parameters[index]
                member.optimizer.state.pop(own, None)
                if state:
                    member.optimizer.state[own] = {
                        key: _part(key, value, number) for key, value in state.items()
                    }


def stack_in_layout(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors as one whose parts have their layout in memory, such as `channels_last`."""
    first = tensors[0]
    stack = first.new_empty(len(tensors), *first.shape)
    if not first.is_contiguous() and torch.empty_like(first).stride() == first.stride():  # dense
        size = (len(tensors), *first.shape)
        stack = torch.empty_strided(
            size, (first.numel(), *first.stride()), dtype=first.dtype, device=first.device
        )
    for part, tensor in zip(stack, tensors, strict=True):
        part.copy_(tensor)
    return stack


def check_optimizers(members: Sequence[PlayerState]) -> None:
    """Raises unless the models' optimizers of a player can be one: elementwise, after as many updates."""
    if not _is_elementwise(members[0].settings):
        name = type(members[0].settings).__name__
        raise NotStackableError(f"the optimizer {name} couples the elements of a tensor")
    for index in range(len(members[0].parameters)):
        states = _entries(members, index)
        counts = {float(state[COUNTER]) for state in states if COUNTER in state}
        if len({frozenset(state) for state in states}) > 1 or len(counts) > 1:
            raise NotStackableError("their optimizers have done different numbers of updates")


def _entries(members: Sequence[PlayerState], index: int) -> list[dict[str, Any]]:
    """The entries of the models' optimizers for a parameter."""
    return [member.optimizer.state.get(member.parameters[index], {}) for member in members]


def _is_elementwise(optimizer: Optimizer) -> bool:
    """Whether two tensors in one take the steps that each takes for itself; tried out with unequal gradients."""
    generator = Generator().manual_seed(0)
    stacked = nn.Parameter(torch.randn(2, 3, 4, generator=generator))
    single: list[nn.Parameter] = [nn.Parameter(part.detach().clone()) for part in stacked]
    optimizers = [optimizer.build([parameter]) for parameter in (stacked, *single)]
    for _ in range(3):
        stacked.grad = torch.randn(2, 3, 4, generator=generator) * torch.tensor([1e-3, 1e3])[:, None, None]
        for parameter, gradient in zip(single, stacked.grad, strict=True):
            parameter.grad = gradient.clone()
        for each in optimizers:
            each.step()
    return torch.allclose(stacked, torch.stack([parameter.data for parameter in single]), rtol=1e-4)


def _join(key: str, states: Sequence[Mapping[str, Any]]) -> Any:
    """An entry of the models' optimizers as one: stacked tensors, or the number of updates, which is the same."""
    if key != COUNTER:
        return None if states[0][key] is None else stack_in_layout([state[key] for state in states])
    return states[0][key].clone()


def _part(key: str, value: Tensor | None, number: int) -> Tensor | None:
    """One model's part of an entry of the stack's optimizer."""
    return value if value is None or key == COUNTER else value[number]
