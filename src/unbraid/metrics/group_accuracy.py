"""Average and worst-group accuracy. Sagawa et al., 2020, Distributionally Robust Neural Networks for Group
Shifts, arXiv:1911.08731; reported by Reconstruction for Disentanglement, Contrast for Invariance, 2022,
Sec. 4.1."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_factors, as_labels


class GroupAccuracy(NamedTuple):
    score: float  # accuracy over all samples
    worst: float  # minimum over groups of class x first nuisance
    worst_fine: float  # minimum over groups of class x all nuisances
    worst_nuisance: float  # minimum over values of the first nuisance, all classes together
    accuracy_at: dict[str, float]  # accuracy at each value of each hidden nuisance: "angle=+65"
    worst_at: dict[str, float]  # minimum over class x first nuisance at each of these values
    groups: Int[np.ndarray, "g 2"]  # class and first nuisance of each observed group
    per_group: Float[np.ndarray, " g"]
    sizes: Int[np.ndarray, " g"]
    fine_groups: Int[np.ndarray, "h columns"]  # class, then all nuisances
    per_fine_group: Float[np.ndarray, " h"]
    fine_sizes: Int[np.ndarray, " h"]
    nuisances: Int[np.ndarray, " v"]  # values of the first nuisance
    per_nuisance: Float[np.ndarray, " v"]
    n: int

    higher_is_better = True
    bounds = (0.0, 1.0)


def group_accuracy(
    predictions: np.ndarray,
    labels: np.ndarray,
    nuisances: np.ndarray,
    *,
    hidden_nuisances: Mapping[str, np.ndarray] | None = None,
) -> GroupAccuracy:
    """Average and worst-group accuracy.

    The 2022 paper does not define its groups. Here, a group is a class and a value of the first nuisance, whose values
    the test changes. Accuracies of the finer groups of class x all nuisances, and of the values of the first nuisance
    alone, are also returned. `hidden_nuisances` maps names to further columns that no method is given, such as an
    angle; average and worst-group accuracy are returned at each of their values. Groups without samples are left out.
    The minimum over many small groups is low by chance, so check `sizes` first.
    """
    labels = as_labels(labels)
    predictions = as_labels(predictions, samples=len(labels), name="predictions")
    nuisances = np.asarray(nuisances)
    nuisances = as_factors(
        nuisances[:, None] if nuisances.ndim == 1 else nuisances,
        samples=len(labels),
        name="nuisances",
        varying=False,
    )
    correct = predictions == labels
    coarse = np.column_stack([labels, nuisances[:, 0]])
    groups, per_group, sizes = _by_group(correct, coarse)
    fine_groups, per_fine_group, fine_sizes = _by_group(correct, np.column_stack([labels, nuisances]))
    first_nuisances, per_nuisance, _ = _by_group(correct, nuisances[:, :1])
    accuracy_at, worst_at = {}, {}
    for name, column in (hidden_nuisances or {}).items():
        column = np.asarray(column)
        if column.shape != labels.shape:
            raise ValueError(
                f"the hidden nuisance {name!r} must have one value per sample; "
                f"got shape {column.shape} for {len(labels)}."
            )
        values, position = np.unique(column, return_inverse=True)
        for number, value in enumerate(values):
            has_value = position == number
            accuracy_at[f"{name}={value}"] = float(correct[has_value].mean())
            worst_at[f"{name}={value}"] = float(_by_group(correct[has_value], coarse[has_value])[1].min())
    return GroupAccuracy(
        score=float(correct.mean()),
        worst=float(per_group.min()),
        worst_fine=float(per_fine_group.min()),
        worst_nuisance=float(per_nuisance.min()),
        accuracy_at=accuracy_at,
        worst_at=worst_at,
        groups=groups,
        per_group=per_group,
        sizes=sizes,
        fine_groups=fine_groups,
        per_fine_group=per_fine_group,
        fine_sizes=fine_sizes,
        nuisances=first_nuisances[:, 0],
        per_nuisance=per_nuisance,
        n=len(labels),
    )


def _by_group(
    correct: np.ndarray, keys: Int[np.ndarray, "n c"]
) -> tuple[Int[np.ndarray, "g c"], Float[np.ndarray, " g"], Int[np.ndarray, " g"]]:
    position = np.zeros(len(keys), dtype=np.int64)  # index of the group of each row, by the columns so far
    for column in keys.T:
        values, number = np.unique(column, return_inverse=True)
        _, position = np.unique(position * len(values) + number, return_inverse=True)
    _, first, sizes = np.unique(position, return_index=True, return_counts=True)
    return keys[first], np.bincount(position, weights=correct) / sizes, sizes
