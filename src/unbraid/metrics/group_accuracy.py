"""Average and worst-group accuracy. Sagawa et al., 2020, Distributionally Robust Neural Networks for Group
Shifts, arXiv:1911.08731; reported by Reconstruction for Disentanglement, Contrast for Invariance, 2022,
Sec. 4.1."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_factors, as_labels


class GroupAccuracy(NamedTuple):
    score: float  # the average over samples
    worst: float  # over class x first nuisance
    worst_fine: float  # over class x all nuisances
    worst_nuisance: float  # over values of the first nuisance, all classes together
    accuracy_at: dict[str, float]  # the average at each value of each condition: "angle=+65"
    worst_at: dict[str, float]  # the worst there, over class x first nuisance
    groups: Int[np.ndarray, "g 2"]  # class and first nuisance of each group that occurs
    per_group: Float[np.ndarray, " g"]
    sizes: Int[np.ndarray, " g"]
    fine_groups: Int[np.ndarray, "h columns"]  # class, then all nuisances
    per_fine_group: Float[np.ndarray, " h"]
    fine_sizes: Int[np.ndarray, " h"]
    nuisances: Int[np.ndarray, " v"]  # values of the first
    per_nuisance: Float[np.ndarray, " v"]
    n: int


def group_accuracy(
    predictions: np.ndarray,
    labels: np.ndarray,
    nuisances: np.ndarray,
    *,
    conditions: Mapping[str, np.ndarray] | None = None,
) -> GroupAccuracy:
    """Accuracy on average and on the worst group of samples.

    The 2022 paper does not define its groups. Here they are class x the first nuisance, the one whose values
    the test changes; the finer groups of class x all nuisances, as columns, and the values of the first nuisance
    alone are given beside them. `conditions` are further columns by name, such as an angle that no method is told
    of: average and worst are given at each of their values. Groups without samples are not groups: see `sizes`
    before believing a worst, since the least of many small groups is low by chance.
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
    right = predictions == labels
    coarse = np.column_stack([labels, nuisances[:, 0]])
    groups, per_group, sizes = _by_group(right, coarse)
    fine_groups, per_fine_group, fine_sizes = _by_group(right, np.column_stack([labels, nuisances]))
    grounds, per_nuisance, _ = _by_group(right, nuisances[:, :1])
    accuracy_at, worst_at = {}, {}
    for name, column in (conditions or {}).items():
        column = np.asarray(column)
        if column.shape != labels.shape:
            raise ValueError(
                f"the condition {name!r} must have one value a sample; got shape {column.shape} for {len(labels)}."
            )
        values, place = np.unique(column, return_inverse=True)
        for number, value in enumerate(values):
            here = place == number
            accuracy_at[f"{name}={value}"] = float(right[here].mean())
            worst_at[f"{name}={value}"] = float(_by_group(right[here], coarse[here])[1].min())
    return GroupAccuracy(
        score=float(right.mean()),
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
        nuisances=grounds[:, 0],
        per_nuisance=per_nuisance,
        n=len(labels),
    )


def _by_group(
    right: np.ndarray, keys: Int[np.ndarray, "n c"]
) -> tuple[Int[np.ndarray, "g c"], Float[np.ndarray, " g"], Int[np.ndarray, " g"]]:
    place = np.zeros(len(keys), dtype=np.int64)  # of each row among the groups of the columns so far
    for column in keys.T:
        values, number = np.unique(column, return_inverse=True)
        _, place = np.unique(place * len(values) + number, return_inverse=True)
    _, first, sizes = np.unique(place, return_index=True, return_counts=True)
    return keys[first], np.bincount(place, weights=right) / sizes, sizes
