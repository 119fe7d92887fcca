"""`unbraid evaluate` and `unbraid score`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.evaluate import available_metrics, dataset_of, evaluate, score
from unbraid.model import load
from unbraid.runs import Run
from unbraid.samples import Arrays


def evaluate_run(
    folder: Path, metrics: Sequence[str], *, root: Path | None, device: str, **how: Any
) -> list[dict[str, Any]]:
    """Scores a run folder and keeps the scores in it."""
    run = Run(folder)
    dataset = dataset_of(run, root)
    method = load(folder, device=device).method
    chosen, everything = _chosen(metrics)
    scores = evaluate(method, dataset, chosen, skip_missing=everything, **how)
    run.add_scores(scores)
    return scores


def score_files(
    codes: Path, factors: Path, metrics: Sequence[str], *, test_fraction: float, seed: int, **how: Any
) -> list[dict[str, Any]]:
    """Scores codes from any other tool; a part of the rows, drawn by the seed, tests the predictors."""
    if not 0 <= test_fraction < 1:
        raise ValueError(f"The test fraction must be at least 0 and below 1; got {test_fraction}.")
    table, values = _read(codes, "codes"), _read(factors, "factors")
    if len(table) != len(values):
        raise ValueError(
            f"{codes} has {len(table)} rows and {factors} {len(values)}: they must match row by row."
        )
    values = values[:, None] if values.ndim == 1 else values
    order = np.random.default_rng(seed).permutation(len(table))
    count = round(test_fraction * len(table))
    parts = [
        Arrays(table[rows], values[rows], values[rows, 0] if values.shape[1] == 1 else None)
        for rows in (order[count:], order[:count])
    ]
    chosen, everything = _chosen(metrics)
    test = parts[1] if count else None
    return score(parts[0], test, chosen, seed=seed, skip_missing=everything, **how)


def _chosen(metrics: Sequence[str]) -> tuple[list[str], bool]:
    """The metrics by name, and whether those that cannot be computed here are left out."""
    return (list(available_metrics()), True) if list(metrics) == ["all"] else (list(metrics), False)


def _read(path: Path, member: str) -> np.ndarray:
    """An array of an .npy, or the member of an .npz; its only member may have any name."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: give an .npz or .npy file with the {member}.")
    try:
        stored = np.load(path, allow_pickle=False)
        if isinstance(stored, np.ndarray):
            return stored
        with stored:
            names = stored.files
            if member not in names and len(names) != 1:
                raise ValueError(f"it needs an array `{member}`, and has {', '.join(names) or 'nothing'}")
            return stored[member if member in names else names[0]]
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read: {error}.") from None
