"""Whether models can train as a stack, found by trial: every player's loss and gradients on one batch."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from unbraid.training.stacked_draw import StackedDraw
from unbraid.training.stacked_step import NotStackableError, StackedStep, stack_batches, terms_of
from unbraid.training.streams import OwnStream
from unbraid.types import Terms

TOLERANCES = {
    "float32": 1e-2,
    "bf16": 5e-2,
}  # of a term, relative to the largest; float32 may be TF32 on a GPU


def require_equal_losses(step: StackedStep, draw: StackedDraw, streams: Sequence[OwnStream]) -> None:
    """Raises unless the stacked loss of every player gives each model the terms of its own loss.

    Batches and noise are those of the next step; weights, buffers and generators stay as they are.
    """
    buffers = {name: buffer.clone() for name, buffer in step.buffers.items()}
    drawn = [generator.get_state() for generator in draw.generators]
    noise = [generator.get_state() for generator in step.noise]
    try:
        first: dict[str, Terms] = {}
        most = max((state.player.batches_per_update for state in step.player_states), default=0)
        batches = [draw.one_by_one() for _ in range(most)]
        for index, state in enumerate(step.player_states):
            player = state.player
            used = batches[: player.batches_per_update]
            reused = first[player.reuses].cached if player.reuses in first else ()
            with step.autocast():
                terms = state.loss(*map(stack_batches, used), *reused)
            state.gradients(terms)
            first[player.name] = tree_map(Tensor.detach, terms)
            after = {name: buffer.clone() for name, buffer in step.buffers.items()}
            _restore_buffers(step, buffers)
            for number, (own, before) in enumerate(zip(streams, noise, strict=True)):
                own.noise.set_state(before)
                own_reused = [tensor[number] for tensor in reused]
                with own, step.autocast():
                    alone = (
                        step.members[number]
                        .player_states[index]
                        .player.loss(*(batch[number] for batch in used), *own_reused)
                    )
                _compare(player.name, terms_of(first, number)[player.name], alone, TOLERANCES[step.precision])
                own.noise.set_state(before)
            _compare_buffers(after, step.buffers, TOLERANCES[step.precision])
            _restore_buffers(step, buffers)
    finally:
        _restore_buffers(step, buffers)
        for generator, state in zip([*draw.generators, *step.noise], [*drawn, *noise], strict=True):
            generator.set_state(state)


def _compare(player: str, stacked: Terms, alone: Terms, tolerance: float) -> None:
    found, expected = stacked.detached().float(), alone.detached().float()
    scale = expected.abs().nan_to_num(0.0, 0.0, 0.0).amax().clamp(min=1.0)
    close = torch.isclose(found / scale, expected / scale, rtol=0.0, atol=tolerance, equal_nan=True)
    if stacked.names != alone.names or not bool(close.all()):
        raise NotStackableError(f"the terms of {player} differ from those of a model alone")


def _compare_buffers(stacked: dict[str, Tensor], alone: dict[str, Tensor], tolerance: float) -> None:
    """Such as running statistics, which a loss updates."""
    for name, buffer in alone.items():
        if not torch.allclose(stacked[name], buffer, rtol=tolerance, atol=tolerance, equal_nan=True):
            raise NotStackableError(f"the loss changes {name} differently than that of a model alone")


def _restore_buffers(step: StackedStep, buffers: dict[str, Tensor]) -> None:
    for name, buffer in buffers.items():
        step.buffers[name].copy_(buffer)
