"""The weights in a run folder: the last, the best, and those kept at earlier steps."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from unbraid.files import read_tensors, sha256_of

WEIGHTS = {"last": "model.safetensors", "best": "best.safetensors"}
KEPT = "model-{}.safetensors"  # the weights after a step
Find = Callable[[str], Path]  # where the file of a run with a name is


def read_weights(which: str | int, ending: Mapping[str, Any], find: Find) -> dict[str, Tensor]:
    """The weights, checked against their hash.

    Args:
        which: `last`, `best`, or a step.
        ending: The content of finished.json; empty for an unfinished run.
        find: Where the file with a name is.
    """
    if isinstance(which, int):
        return _kept_weights(which, ending, find)
    if which not in WEIGHTS:
        raise ValueError(
            f"weights must be one of {', '.join(WEIGHTS)} or a step of --keep-weights; got {which!r}."
        )
    path = find(WEIGHTS[which])
    if which == "last" and not (ending and path.exists()):
        raise FileNotFoundError(
            f"{path.parent} has no {path.name} yet: the run is unfinished. Continue it with --resume."
        )
    if not path.exists():
        raise FileNotFoundError(
            f"{path.parent} has no {path.name}: it was trained without a validation split. Train with "
            "--val-fraction, or use the last weights."
        )
    return read_tensors(path, sha256=ending["sha256"] if which == "last" else None)


def _kept_weights(step: int, ending: Mapping[str, Any], find: Find) -> dict[str, Tensor]:
    path, kept = find(KEPT.format(step)), ending.get("kept", {})
    if str(step) not in kept:
        there = f"those of {', '.join(kept)}" if kept else "none"
        raise FileNotFoundError(
            f"{path.parent} has no weights of step {step}; it keeps {there}. Train with --keep-weights {step}."
        )
    return read_tensors(path, sha256=kept[str(step)])


def hashes_of_kept(steps: Iterable[int], find: Find) -> dict[str, str]:
    """The SHA-256 of the weights at each of the steps that a training reached."""
    paths = {str(step): find(KEPT.format(step)) for step in steps}
    return {step: sha256_of(path) for step, path in paths.items() if path.exists()}
