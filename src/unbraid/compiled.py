"""Losses compiled once for all models of a kind, whose weights and numbers are then lent to them."""

import copy
import json
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.methods.base import Method, Player
from unbraid.settings import describe
from unbraid.types import Terms

Loss = Callable[..., Terms]
OPTIONS: dict[str, Any] = {
    "combo_kernels": True,  # kernels that do not depend on each other become one: 8 % faster, β-VAE at 64×64
    "fallback_random": True,  # noise stays that of a step that is not compiled
}
_kinds: dict[tuple[Any, ...], Loss] = {}


def compiled_loss(method: Method, player: Player, *, varying: frozenset[str] = frozenset()) -> Loss:
    """The player's loss, compiled; models that differ only in weights and in `varying` numbers share the work.

    Args:
        method: Whose player it is.
        player: Its loss is best a method of the method; another function is compiled for this model alone.
        varying: Names of numeric settings that are read anew by each model, kept under their own name.
    """
    name = getattr(getattr(player.loss, "__func__", None), "__name__", "")
    if getattr(method, name, None) != player.loss:
        return torch.compile(player.loss, dynamic=False, options=OPTIONS)
    varying = frozenset(key for key in varying if isinstance(method.__dict__.get(key), float))
    fixed = {key: value for key, value in describe(method.arguments).items() if key not in varying}
    kind = (type(method), name, method.step.device, varying, json.dumps(fixed, sort_keys=True))
    if kind not in _kinds:
        _kinds[kind] = torch.compile(_Lent(method, name, varying).loss, dynamic=False, options=OPTIONS)
    shared, own = _kinds[kind], {id(parameter) for parameter in player.parameters}
    numbers = {
        key: torch.tensor(float(getattr(method, key)), device=method.step.device) for key in sorted(varying)
    }

    def loss(*batches: Any) -> Terms:
        parameters = {
            key: parameter
            if id(parameter) in own
            else parameter.detach()  # no gradient is computed for others
            for key, parameter in method.named_parameters()
        }
        return shared({**parameters, **dict(method.named_buffers()), **numbers}, *batches)

    return loss


class _Lent(nn.Module):
    """A model without weights of its own: one of its losses as a function of another model's state."""

    def __init__(self, method: Method, name: str, varying: frozenset[str]) -> None:
        super().__init__()
        self.method, self.name = copy.deepcopy(method), name
        for number in varying:
            delattr(self.method, number)
            self.method.register_buffer(number, torch.zeros((), device=method.step.device))

    def forward(self, *batches: Any) -> Terms:
        return getattr(self.method, self.name)(*batches)

    def loss(self, state: dict[str, Tensor], *batches: Any) -> Terms:
        lent = {f"method.{key}": value for key, value in state.items()}
        return torch.func.functional_call(self, lent, batches)
