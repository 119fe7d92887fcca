"""Accuracy of a shallow classifier per class. Towards Principled Objectives for Contrastive Disentanglement,
2020, Table 2, after Ruiz et al., 2019, arXiv:1901.08534."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from unbraid.metrics.arrays import as_codes, as_labels, once_each, standardize
from unbraid.metrics.information import relabel


class ClassAccuracy(NamedTuple):
    score: float  # mean over classes, which all have equal weight
    accuracy: float  # over all samples
    per_class: dict[str, float]
    chance: float  # expected score of guessing: 1 / number of classes
    n: int
    folds: int

    higher_is_better = True
    bounds = (0.0, 1.0)
    undirected = ("chance",)
    lower_is_better_in = ("common",)


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
    """Accuracy of a shallow classifier on the code, averaged over classes.

    Multinomial logistic regression with balanced classes on standardized codes; cross-validation predicts every sample
    by a classifier trained on the other folds. The paper calls its classifier shallow without further details.
    `instances` has the instance of each sample; each instance counts once, so that no tested instance is in the
    training folds.
    """
    codes = as_codes(codes)
    labels = as_labels(labels, samples=len(codes))
    distinct = once_each(instances, len(codes))
    codes, labels = codes[distinct], labels[distinct]
    values, counts = np.unique(labels, return_counts=True)
    if len(values) < 2 or folds < 2 or counts.min() < folds:
        raise ValueError(
            f"class_accuracy needs at least two classes, two folds and {max(folds, 2)} samples of each class; got "
            f"{len(values)} classes of {counts.min()} samples or more, and {folds} folds."
        )
    classes = relabel(labels)
    predicted = np.empty_like(classes)
    splits = StratifiedKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
    for fitted, tested in splits.split(codes, classes):
        train, test = standardize(codes[fitted], codes[tested])
        model = LogisticRegression(C=inverse_penalty, class_weight="balanced", max_iter=1000)
        predicted[tested] = model.fit(train, classes[fitted]).predict(test)
    correct = predicted == classes
    names = [str(value) if class_names is None else str(class_names[value]) for value in values]
    per_class = {name: float(correct[classes == index].mean()) for index, name in enumerate(names)}
    return ClassAccuracy(
        score=float(np.mean(list(per_class.values()))),
        accuracy=float(correct.mean()),
        per_class=per_class,
        chance=1 / len(values),
        n=len(codes),
        folds=folds,
    )
