"""One training step: every player draws its batches, computes its loss and updates its parameters."""

import copy
import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.distributed import all_reduce_mean, world_size
from unbraid.methods import Method, Player
from unbraid.nn import order_weights
from unbraid.optimizers import Optimizer
from unbraid.schedules import Schedule
from unbraid.training.compile import Loss, compile_loss
from unbraid.training.config import Precision
from unbraid.types import Scalar, Terms

REMEDY = "Lower --lr or set --grad-clip."


class PlayerState:
    """A player with its optimizer."""

    def __init__(self, player: Player, optimizer: Optimizer, *, loss: Loss, compiled: bool) -> None:
        self.player, self.loss, self.settings, self._compiled = player, loss, optimizer, compiled
        self.parameters = [parameter for parameter in player.parameters if parameter.requires_grad]
        self._build = functools.partial(optimizer.build, compiled=compiled)
        self.optimizer = self._build(self.parameters)
        self._optimizer_step = torch.compile(self.optimizer.step) if compiled else self.optimizer.step
        self.trainable = self.parameters

    def fresh_state(self) -> dict[int, dict[str, Tensor]]:
        """The optimizer's state by parameter after one step, made with a copy whose gradients are zero."""
        copies = [nn.Parameter(torch.zeros_like(parameter)) for parameter in self.parameters]
        optimizer = self._build(copies)
        for parameter in copies:
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        return _optimizer_tensors(optimizer)

    def frozen(self, step: int) -> frozenset[int]:
        """The ids of the parameters that are not updated at a step."""
        return frozenset(map(id, self.player.frozen(step)))

    def update_frozen(self, step: int) -> None:
        """Freezes and unfreezes parameters for a step; the optimizer starts afresh when that is a change."""
        frozen = self.frozen(step)
        self.trainable = [parameter for parameter in self.parameters if id(parameter) not in frozen]
        if step > 0 and frozen != self.frozen(step - 1):
            self.optimizer.state.clear()

    def update(self, terms: Terms, grad_clip: float | None) -> None:
        """One update of this player's own parameters; other players' parameters get no gradient."""
        gradients = self.gradients(terms)
        if world_size() > 1:
            gradients = _all_reduce_gradients(gradients)
        for parameter, gradient in zip(self.trainable, gradients, strict=True):
            if gradient is not None and not self._compiled:
                gradient = match_strides(parameter, gradient)
            parameter.grad = gradient
        if grad_clip is not None:
            self._clip(grad_clip)
        self._optimizer_step()
        for parameter in self.parameters:
            parameter.grad = None

    def gradients(self, terms: Terms) -> tuple[Tensor | None, ...]:
        return torch.autograd.grad(terms.total, self.trainable, allow_unused=True)

    def _clip(self, max_norm: float) -> None:
        nn.utils.clip_grad_norm_(self.parameters, max_norm)


class TrainingStep:
    """A method's players with their optimizers.

    Args:
        method: The method whose players are trained.
        optimizer: Optimizer of the first player, in place of the player's own.
        lr_schedule: Multiplier of every learning rate by step.
        grad_clip: Maximum gradient norm per player.
        precision: `bf16` computes losses under autocast.
        compiled: Whether losses and optimizers are compiled; the noise stays that of steps that are not.
        varying: Numeric options in which this model differs from others on the device that share its compiled losses;
            None for a model that trains alone. Optimizers of models that share are not compiled: each would be
            compiled anew, and the time saved is time in which the other models run.
    """

    def __init__(
        self,
        method: Method,
        *,
        optimizer: Optimizer | None = None,
        lr_schedule: Schedule | None = None,
        grad_clip: float | None = None,
        precision: Precision = "float32",
        compiled: bool = False,
        varying: frozenset[str] | None = None,
    ) -> None:
        self.method, self.optimizer, self.lr_schedule = method, optimizer, lr_schedule
        self.grad_clip, self.compiled, self.varying = grad_clip, compiled, varying
        self.precision: Precision = precision
        order_weights(method, method.step.device, all_layers=precision == "bf16" and not compiled)
        self.player_states: list[PlayerState] = []
        for index, player in enumerate(method.players()):
            player = replace(player, parameters=list(player.parameters))
            chosen = optimizer if optimizer and index == 0 else player.optimizer
            loss = compile_loss(method, player, varying=varying or frozenset()) if compiled else player.loss
            state = PlayerState(player, chosen, loss=loss, compiled=compiled and varying is None)
            self.player_states.append(state)
        owned = [id(parameter) for state in self.player_states for parameter in state.parameters]
        if len(set(owned)) != len(owned):
            raise ValueError(
                f"Two players of {type(method).__name__} own the same parameter; each parameter has one owner."
            )

    def run(self, draw_batch: Callable[[], Any], step: int) -> dict[str, Terms]:
        """Updates every active player and advances the method's step; the terms of each player's last update."""
        batches: list[
            list[Any]
        ] = []  # per update, so that the first updates of all players share their batches
        terms: dict[str, Terms] = {}
        if self.lr_schedule is not None:
            self._set_learning_rates(self.lr_schedule(self.method.step))
        for state in self.player_states:
            player = state.player
            if player.name not in self.active_players(step):
                continue
            state.update_frozen(step)
            for update in range(player.updates_per_step):
                while len(batches) <= update:
                    batches.append([])
                while len(batches[update]) < player.batches_per_update:
                    batches[update].append(draw_batch())
                reused = terms[player.reuses].cached if update == 0 and player.reuses in terms else ()
                with self.autocast():
                    terms[player.name] = state.loss(*batches[update][: player.batches_per_update], *reused)
                state.update(terms[player.name], self.grad_clip)
        self.method.step += 1
        return terms

    def active_players(self, step: int) -> tuple[str, ...]:
        """The names of the players that are updated at a step."""
        return tuple(state.player.name for state in self.player_states if step >= state.player.start_step)

    def graph_key(self, step: int) -> tuple[tuple[str, ...], tuple[frozenset[int], ...]]:
        """The active players and the frozen parameters of each: a captured CUDA graph holds for one such key."""
        return self.active_players(step), tuple(state.frozen(step) for state in self.player_states)

    def dry_run_copy(self) -> "TrainingStep":
        """The same step on a copy of the method."""
        return TrainingStep(
            copy.deepcopy(self.method),
            optimizer=self.optimizer,
            lr_schedule=self.lr_schedule,
            grad_clip=self.grad_clip,
            precision=self.precision,
            compiled=self.compiled,
            varying=self.varying,
        )

    def state(self) -> dict[str, Tensor]:
        """Weights and the optimizers' tensors by name."""
        tensors = {f"model.{name}": tensor for name, tensor in self.method.state_dict().items()}
        for state in self.player_states:
            for index, entries in _optimizer_tensors(state.optimizer).items():
                for key, value in entries.items():
                    tensors[f"optimizer.{state.player.name}.{index}.{key}"] = value
        return tensors

    def fresh_optimizer_state(self) -> dict[str, dict[str, Tensor]]:
        """What `state` holds of each parameter's optimizer after one step, by the names' common beginning."""
        return {
            f"optimizer.{state.player.name}.{index}": entries
            for state in self.player_states
            for index, entries in state.fresh_state().items()
        }

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Loads what `state` returned."""
        prefix = "model."
        weights = {
            name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)
        }
        self.method.load_state_dict(weights)
        for state in self.player_states:
            prefix, entries = f"optimizer.{state.player.name}.", {}
            for name, value in tensors.items():
                if name.startswith(prefix):
                    index, key = name.removeprefix(prefix).split(".")
                    parameter = state.parameters[int(index)]
                    value = match_strides(parameter, value) if value.shape == parameter.shape else value
                    entries.setdefault(int(index), {})[key] = value
            groups = state.optimizer.state_dict()["param_groups"]
            state.optimizer.load_state_dict({"state": entries, "param_groups": groups})

    def autocast(self) -> AbstractContextManager[Any]:
        if self.precision == "float32":
            return nullcontext()
        return torch.autocast(self.method.step.device.type, torch.bfloat16)

    def _set_learning_rates(self, multiplier: Scalar) -> None:
        for state in self.player_states:
            for group in state.optimizer.param_groups:
                if isinstance(group["lr"], Tensor):
                    group["lr"].copy_(state.settings.lr * multiplier)
                else:
                    group["lr"] = state.settings.lr * float(multiplier)


class NonFiniteDetector:
    """Records on the device at which step each player first had a term that is not finite."""

    def __init__(self) -> None:
        # Per player: the first step with a non-finite term (0: none), and whether each term was non-finite then.
        self._first_found: dict[str, tuple[Tensor, Tensor]] = {}
        self._term_names: dict[str, tuple[str, ...]] = {}

    def record(self, step: Tensor, terms: dict[str, Terms]) -> None:
        """Checks the terms of one step. Tensors are updated in place, as CUDA graphs require."""
        for player, player_terms in terms.items():
            nonfinite = ~torch.isfinite(player_terms.detached())
            if player not in self._first_found:
                first_step = torch.zeros_like(nonfinite[0], dtype=torch.long)
                self.adopt(player, player_terms.names, first_step, torch.zeros_like(nonfinite))
            first_step, nonfinite_at_first = self._first_found[player]
            is_first = nonfinite.any() & (first_step == 0)
            nonfinite_at_first.copy_(torch.where(is_first, nonfinite, nonfinite_at_first))
            first_step.copy_(torch.where(is_first, step, first_step))

    def adopt(self, player: str, names: tuple[str, ...], first_step: Tensor, nonfinite: Tensor) -> None:
        """Reads from these tensors what was found for a player."""
        self._first_found[player], self._term_names[player] = (first_step, nonfinite), names

    def raise_if_found(self, folder: Path) -> None:
        """Raises if a term was not finite, naming the step, the term and the last good checkpoint."""
        for player, (first_step, nonfinite) in self._first_found.items():
            if not int(first_step):
                continue
            names = ", ".join(
                name
                for name, found in zip(self._term_names[player], nonfinite.tolist(), strict=True)
                if found
            )
            has_checkpoint = (folder / "checkpoint.safetensors").exists()
            checkpoint_note = (
                f"The last good checkpoint is in {folder}."
                if has_checkpoint
                else "There is no checkpoint yet."
            )
            raise FloatingPointError(
                f"Training stopped: {names} of {player} became NaN or infinite at step {int(first_step)}. {REMEDY} "
                f"{checkpoint_note}"
            )


def terms_as_floats(terms: dict[str, Terms]) -> dict[str, float]:
    """The terms as numbers, averaged over the processes; terms of later players carry the player's name."""
    named: dict[str, float] = {}
    for index, (player, values) in enumerate(terms.items()):
        numbers = all_reduce_mean(values.detached().float()).tolist()
        prefix = f"{player}." if index else ""
        named |= {prefix + name: number for name, number in zip(values.names, numbers, strict=True)}
    return named


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[int, dict[str, Tensor]]:
    """An optimizer's state by parameter, as tensors."""
    return {
        index: {key: torch.as_tensor(value) for key, value in entries.items() if value is not None}
        for index, entries in optimizer.state_dict()["state"].items()
    }


def match_strides(parameter: Tensor, values: Tensor) -> Tensor:
    """The values in the parameter's memory layout, which fused optimizers rely on."""
    if values.stride() == parameter.stride():
        return values
    return torch.empty_like(parameter, dtype=values.dtype).copy_(values)


def _all_reduce_gradients(gradients: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
    """The gradients' means over the processes, in one exchange."""
    present = [gradient for gradient in gradients if gradient is not None]
    flat = all_reduce_mean(torch.cat([gradient.flatten() for gradient in present]))
    pieces = iter(flat.split([gradient.numel() for gradient in present]))
    return tuple(None if gradient is None else next(pieces).view_as(gradient) for gradient in gradients)
