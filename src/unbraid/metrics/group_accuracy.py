"""Average and worst-group accuracy. Sagawa et al., 2020, Distributionally Robust Neural Networks for Group
Shifts, arXiv:1911.08731; reported by Reconstruction for Disentanglement, Contrast for Invariance, 2022,
Sec. 4.1."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_factors, as_labels


class GroupAccuracy(NamedTuple):
    score: float  # the average over samples
    worst: float  # over class x nuisance
    worst_nuisance: float  # over values of the nuisance, all classes together
    groups: Int[np.ndarray, "g columns"]  # class, then nuisances, of each group that occurs
    per_group: Float[np.ndarray, " g"]
    sizes: Int[np.ndarray, " g"]
    nuisances: Int[np.ndarray, "v nuisance"]
    per_nuisance: Float[np.ndarray, " v"]
    n: int


def group_accuracy(predictions: np.ndarray, labels: np.ndarray, nuisances: np.ndarray) -> GroupAccuracy:
    """Accuracy on average and on the worst group of samples.

    The 2022 paper does not define its groups; both readings are given. With several nuisances, as
    columns, a group is one combination of their values. Groups without samples are not groups: see
    `sizes` before believing `worst`, since the least of many small groups is low by chance.
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
    groups, per_group, sizes = _by_group(right, np.column_stack([labels, nuisances]))
    values, per_nuisance, _ = _by_group(right, nuisances)
    return GroupAccuracy(
        score=float(right.mean()),
        worst=float(per_group.min()),
        worst_nuisance=float(per_nuisance.min()),
        groups=groups,
        per_group=per_group,
        sizes=sizes,
        nuisances=values,
        per_nuisance=per_nuisance,
        n=len(labels),
    )


def _by_group(
    right: np.ndarray, keys: Int[np.ndarray, "n c"]
) -> tuple[Int[np.ndarray, "g c"], Float[np.ndarray, " g"], Int[np.ndarray, " g"]]:
    groups, place, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    hits = np.bincount(place.reshape(-1), weights=right, minlength=len(groups))
    return groups, hits / sizes, sizes
