"""Detects terms and weights that are NaN or infinite, without synchronizing host and device at every step."""

from pathlib import Path

import torch
from torch import Tensor, nn

from unbraid.types import Terms

REMEDY = "Lower --lr or set --grad-clip."


class NonFiniteDetector:
    """Records, on the device, the first step at which each player had a term that is not finite."""

    def __init__(self) -> None:
        # Per player: the first step with a non-finite term (0: none), and whether each term was non-finite then.
        self._first_found: dict[str, tuple[Tensor, Tensor]] = {}
        self._term_names: dict[str, tuple[str, ...]] = {}

    def record(self, step: Tensor, terms: dict[str, Terms]) -> None:
        """Checks the terms of one step. Tensors are updated in place, as CUDA graphs require."""
        for player, player_terms in terms.items():
            nonfinite = ~torch.isfinite(player_terms.detached())
            if player not in self._first_found:
                self._first_found[player] = (
                    torch.zeros_like(nonfinite[0], dtype=torch.long),
                    torch.zeros_like(nonfinite),
                )
                self._term_names[player] = player_terms.names
            first_step, nonfinite_at_first = self._first_found[player]
            is_first = nonfinite.any() & (first_step == 0)
            nonfinite_at_first.copy_(torch.where(is_first, nonfinite, nonfinite_at_first))
            first_step.copy_(torch.where(is_first, step, first_step))

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


def check_weights_finite(method: nn.Module, step: int, folder: Path) -> None:
    """Raises if a weight is NaN or infinite, so that such weights are never saved."""
    nonfinite = [name for name, value in method.state_dict().items() if not bool(torch.isfinite(value).all())]
    if nonfinite:
        raise FloatingPointError(
            f"Training stopped: the weight {nonfinite[0]} became NaN or infinite at step {step}. {REMEDY} The files in "
            f"{folder} are from an earlier step."
        )
