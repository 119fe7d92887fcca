"""Accuracy of a shallow classifier, class by class. Towards Principled Objectives for Contrastive Disentanglement,
2020, Table 2, after Ruiz et al., 2019, arXiv:1901.08534."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from unbraid.metrics.arrays import as_codes, as_labels, once_each, standardize
from unbraid.metrics.information import relabel


class ClassAccuracy(NamedTuple):
    score: float  # mean over classes, so that rare ones count as much as common ones
    accuracy: float  # over all samples
    per_class: dict[str, float]
    chance: float  # of the mean over classes: 1 / classes
    n: int
    folds: int


def class_accuracy(
    codes: np.ndarray,
    labels: np.ndarray,
    *,
    rng: np.random.Generator,
    class_names: Sequence[str] | None = None,
    instances: np.ndarray | None = None,
    folds: int = 5,
    inverse_penalty: float = 1.0,
) -> ClassAccuracy:
    """How well a shallow classifier tells each class from the code.

    Multinomial logistic regression on standardised codes, in which classes weigh alike; every sample is
    classified by one that was fitted to other folds. The paper says no more of its classifier than shallow.
    `instances` numbers the things that samples show; each counts once, so that none that is tested was seen in
    fitting.
    """
    codes = as_codes(codes)
    labels = as_labels(labels, samples=len(codes))
    different = once_each(instances, len(codes))
    codes, labels = codes[different], labels[different]
    values, counts = np.unique(labels, return_counts=True)
    if len(values) < 2 or folds < 2 or counts.min() < folds:
        raise ValueError(
            f"class_accuracy needs at least two classes, two folds and {max(folds, 2)} samples of each class; got "
            f"{len(values)} classes of {counts.min()} samples or more, and {folds} folds."
        )
    places = relabel(labels)
    predicted = np.empty_like(places)
    splits = StratifiedKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
    for fitted, tested in splits.split(codes, places):
        train, test = standardize(codes[fitted], codes[tested])
        model = LogisticRegression(C=inverse_penalty, class_weight="balanced", max_iter=1000)
        predicted[tested] = model.fit(train, places[fitted]).predict(test)
    right = predicted == places
    names = [str(value) if class_names is None else str(class_names[value]) for value in values]
    per_class = {name: float(right[places == place].mean()) for place, name in enumerate(names)}
    return ClassAccuracy(
        score=float(np.mean(list(per_class.values()))),
        accuracy=float(right.mean()),
        per_class=per_class,
        chance=1 / len(values),
        n=len(codes),
        folds=folds,
    )
