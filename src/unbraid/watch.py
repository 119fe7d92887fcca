"""Finds out that a loss is no longer a number, without making a device wait for the host."""

from pathlib import Path

import torch
from torch import Tensor, nn

from unbraid.types import Terms


class Watch:
    """Remembers, on the device, the first step at which each player had a term that is not finite."""

    def __init__(self) -> None:
        self._first: dict[
            str, tuple[Tensor, Tensor]
        ] = {}  # by player: the step, and which terms were bad then
        self._names: dict[str, tuple[str, ...]] = {}

    def see(self, step: Tensor, moves: dict[str, Terms]) -> None:
        """Looks at the terms of one step; the memory is written in place, so that a recorded step can."""
        for player, terms in moves.items():
            bad = ~torch.isfinite(terms.detached())
            if player not in self._first:
                self._first[player] = torch.zeros_like(bad[0], dtype=torch.long), torch.zeros_like(bad)
                self._names[player] = terms.names
            first, bad_then = self._first[player]
            now = bad.any() & (first == 0)
            bad_then.copy_(torch.where(now, bad, bad_then))
            first.copy_(torch.where(now, step, first))

    def check(self, folder: Path) -> None:
        """Raises if a term has not been finite, naming the step, the term and the last good checkpoint."""
        for player, (first, bad) in self._first.items():
            if int(first):
                names = [
                    name for name, is_bad in zip(self._names[player], bad.tolist(), strict=True) if is_bad
                ]
                good = (folder / "checkpoint.safetensors").exists()
                raise FloatingPointError(
                    f"Training stopped at step {int(first)}: {', '.join(names)} of {player} became infinite or "
                    "not a number; lower the rate or clip the gradient. "
                    + (
                        f"The last good checkpoint is in {folder}."
                        if good
                        else "No checkpoint was written yet."
                    )
                )


def check_weights(method: nn.Module, step: int, folder: Path) -> None:
    """Raises if a weight is not finite, so that such weights are never written."""
    bad = [name for name, value in method.state_dict().items() if not bool(torch.isfinite(value).all())]
    if bad:
        raise FloatingPointError(
            f"Training stopped at step {step}: {bad[0]} became infinite or not a number; lower the rate or clip the "
            f"gradient. What was written before is in {folder}."
        )
