"""Gradient-boosted trees of disentanglement_lib's DCI: the scores of scikit-learn's classifier, computed faster.

Friedman, 2001, Greedy Function Approximation: A Gradient Boosting Machine, Annals of Statistics 29(5).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from sklearn._loss import HalfBinomialLoss, HalfMultinomialLoss  # private: pyproject.toml caps scikit-learn

from unbraid.metrics.regression_tree import DEPTH, Presorted, Scratch, grow_tree, route

STAGES = 100  # GradientBoostingClassifier's defaults, as is DEPTH
RATE = 0.1
EPS = float(np.finfo(np.float64).eps)  # minimum distance of scikit-learn's first probabilities from 0 and 1


class Boosted(NamedTuple):
    """Importances and accuracies of a boosted classifier."""

    importances: Float[np.ndarray, " d"]  # sum to 1; all 0 if no tree has a split
    train_accuracy: float
    test_accuracy: float


def boost(
    train: Presorted,
    labels: Int[np.ndarray, " n"],
    test_codes: Float[np.ndarray, "m d"],
    test_labels: Int[np.ndarray, " m"],
    *,
    random_state: int,
    stages: int = STAGES,
) -> Boosted:
    """Fits `GradientBoostingClassifier(random_state=random_state)` and scores it on both samples."""
    classes, target = np.unique(labels, return_inverse=True)
    n, k = len(target), len(classes)
    binary = k == 2
    loss = HalfBinomialLoss() if binary else HalfMultinomialLoss(n_classes=k)
    outputs = 1 if binary else k
    chances = np.clip(np.bincount(target) / n, EPS, 1 - EPS)
    start = loss.link.link(chances[1:]) if binary else loss.link.link(chances[None])[0]
    raw = np.tile(start, (n, 1))
    test = np.ascontiguousarray(test_codes.T, dtype=np.float32)
    test_raw = np.tile(start, (test.shape[1], 1))
    hit = target[:, None] == (np.ones(1) if binary else np.arange(k))
    importances = np.zeros(len(train.columns))
    seeds = np.random.RandomState(random_state)
    scratch = Scratch(*train.columns.shape)
    for _ in range(stages):
        slope = loss.gradient(
            y_true=target.astype(np.float64), raw_prediction=raw[:, 0].copy() if binary else raw
        )
        for output, residual in enumerate(np.ascontiguousarray(-slope.reshape(n, outputs).T)):
            tree = grow_tree(train, residual, int(seeds.randint(0, 2**31 - 1)), scratch)
            values = RATE * _leaf_values(tree.leaf, residual, hit[:, output], 1.0 if binary else (k - 1) / k)
            raw[:, output] += values[tree.leaf]
            test_raw[:, output] += values[route(tree, test)]
            np.add.at(importances, tree.features, tree.gains)
    total = importances.sum()
    return Boosted(
        importances / total if total > 0 else importances,
        float(np.mean(classes[_decide(raw)] == labels)),
        float(np.mean(classes[_decide(test_raw)] == test_labels)),
    )


def _decide(raw: Float[np.ndarray, "n k"]) -> Int[np.ndarray, " n"]:
    return (raw[:, 0] >= 0).astype(np.int64) if raw.shape[1] == 1 else raw.argmax(axis=1)


def _leaf_values(
    leaf: Int[np.ndarray, " n"], residual: Float[np.ndarray, " n"], hit: Bool[np.ndarray, " n"], factor: float
) -> Float[np.ndarray, " leaves"]:
    """One Newton step on the log-likelihood in each leaf; `factor` is Friedman's (K - 1) / K."""
    chance = hit - residual
    curvature = chance * (1 - chance)
    values = np.zeros(2**DEPTH)
    for index in range(2**DEPTH):
        inside = np.flatnonzero(leaf == index)
        if inside.size:
            # Means and ascending samples, as in scikit-learn, for equal rounding.
            below = curvature[inside].sum() / inside.size
            above = residual[inside].sum() / inside.size * factor
            values[index] = above / below if abs(below) >= 1e-150 else 0.0
    return values
