"""Losses compiled by torch.compile; models that differ only in weights and scalar options share one compilation."""

import copy
import inspect
import json
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.methods import Method, Player
from unbraid.settings import to_json
from unbraid.types import Terms

Loss = Callable[..., Terms]
OPTIONS: dict[str, Any] = {
    "combo_kernels": True,  # fuses independent kernels: 8 % faster for β-VAE at 64×64
    "fallback_random": True,  # same random numbers as without compilation
}
_compiled_losses: dict[tuple[Any, ...], Loss] = {}


def compile_loss(method: Method, player: Player, *, varying: frozenset[str] = frozenset()) -> Loss:
    """The compiled loss of a player; models that differ only in weights and `varying` options share one compilation.

    Args:
        method: Method of the player.
        player: Player whose loss is compiled; a loss that is not a bound method of `method` shares nothing.
        varying: Names of float options that differ between models; the method stores them as attributes of these names.
    """
    if not is_method_of(method, player.loss):
        return torch.compile(player.loss, dynamic=False, options=OPTIONS)
    name = player.loss.__name__
    varying = frozenset(key for key in varying if isinstance(method.__dict__.get(key), float))
    fixed = {key: value for key, value in to_json(method.arguments).items() if key not in varying}
    key = (type(method), name, method.step.device, varying, json.dumps(fixed, sort_keys=True))
    if key not in _compiled_losses:
        _compiled_losses[key] = torch.compile(
            FunctionalLoss(copy_with_buffers(method, varying), name).loss, dynamic=False, options=OPTIONS
        )
    shared, trainable = _compiled_losses[key], {id(parameter) for parameter in player.parameters}
    varying_values = {
        key: torch.tensor(float(getattr(method, key)), device=method.step.device) for key in sorted(varying)
    }

    def loss(*batches: Any) -> Terms:
        parameters = {
            key: parameter
            if id(parameter) in trainable
            else parameter.detach()  # no gradients for the parameters of other players
            for key, parameter in method.named_parameters()
        }
        return shared({**parameters, **dict(method.named_buffers()), **varying_values}, *batches)

    return loss


def is_method_of(method: Method, loss: Loss) -> bool:
    """Whether a loss is a bound method of `method` that its name finds."""
    return inspect.ismethod(loss) and loss.__self__ is method and getattr(method, loss.__name__, None) == loss


def copy_with_buffers(method: Method, options: Iterable[str]) -> Method:
    """A copy of a method in which numeric options are buffers, so that they can differ between calls."""
    method = copy.deepcopy(method)
    for option in options:
        value = float(getattr(method, option))
        delattr(method, option)
        method.register_buffer(option, torch.tensor(value, device=method.step.device))
    return method


class FunctionalLoss(nn.Module):
    """A loss of a method as a function of parameters and buffers, for `functional_call`."""

    def __init__(self, method: Method, name: str) -> None:
        super().__init__()
        self.method, self.name = method, name

    def forward(self, *batches: Any) -> Terms:
        return getattr(self.method, self.name)(*batches)

    def loss(self, state: dict[str, Tensor], *batches: Any) -> Terms:
        state = {f"method.{key}": value for key, value in state.items()}
        return torch.func.functional_call(self, state, batches)
