"""Gradient-boosted trees of disentanglement_lib's DCI: the scores of scikit-learn's classifier, computed faster.

Friedman, 2001, Greedy Function Approximation: A Gradient Boosting Machine, Annals of Statistics 29(5).
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from sklearn._loss import HalfBinomialLoss, HalfMultinomialLoss  # private: pyproject.toml caps scikit-learn

from unbraid.metrics.processes import Processes
from unbraid.metrics.regression_tree import DEPTH, Scratch, grow_tree, presort, route

STAGES = 100  # GradientBoostingClassifier's defaults, as is DEPTH
RATE = 0.1
EPS = float(np.finfo(np.float64).eps)  # minimum distance of scikit-learn's first probabilities from 0 and 1


class Boosted(NamedTuple):
    """Importances and accuracies of a boosted classifier."""

    importances: Float[np.ndarray, " d"]  # sum to 1; all 0 if no tree has a split
    train_accuracy: float
    test_accuracy: float


class Labels(NamedTuple):
    """What one classifier predicts, and its `random_state` in scikit-learn."""

    train: Int[np.ndarray, " n"]
    test: Int[np.ndarray, " m"]
    random_state: int


def boost(
    codes: Float[np.ndarray, "n d"],
    test_codes: Float[np.ndarray, "m d"],
    labels: Sequence[Labels],
    *,
    stages: int = STAGES,
    processes: int = 1,
) -> list[Boosted]:
    """Fits scikit-learn's `GradientBoostingClassifier(random_state=random_state)` for each of the labels.

    The trees of one stage, of all classes and all classifiers, do not depend on each other and are distributed over the
    processes.
    """
    grower = _Grower(codes, test_codes)
    classifiers = [_Classifier(each, codes.shape[1]) for each in labels]
    with Processes(grower, processes) as pool:
        for _ in range(stages):
            trees = iter(
                pool.map([task for classifier in classifiers for task in classifier.tasks(processes)])
            )
            for classifier in classifiers:
                classifier.add(trees)
    return [classifier.result() for classifier in classifiers]


class _Task(NamedTuple):
    """What one tree is grown for."""

    residual: Float[np.ndarray, " n"]
    hit: Bool[np.ndarray, " n"]
    factor: float  # Friedman's (K - 1) / K
    state: int  # of scikit-learn's splitter


class _Step(NamedTuple):
    """What one tree adds to the predictions: the value of the leaf of each sample."""

    values: Float[np.ndarray, " leaves"]
    leaf: UInt8[np.ndarray, " n"]
    test_leaf: UInt8[np.ndarray, " m"]
    features: list[int]
    gains: list[float]


class _Grower:
    """Grows trees, in this process or in others."""

    def __init__(self, codes: Float[np.ndarray, "n d"], test_codes: Float[np.ndarray, "m d"]) -> None:
        self.train = presort(codes)
        self.test = np.ascontiguousarray(test_codes.T, dtype=np.float32)

    @cached_property
    def scratch(self) -> Scratch:
        return Scratch(*self.train.columns.shape)

    def __call__(self, tasks: list[_Task]) -> list[_Step]:
        return [self._step(task) for task in tasks]

    def _step(self, task: _Task) -> _Step:
        tree = grow_tree(self.train, task.residual, task.state, self.scratch)
        values = RATE * _leaf_values(tree.leaf, task.residual, task.hit, task.factor)
        leaf, test_leaf = tree.leaf.astype(np.uint8), route(tree, self.test).astype(np.uint8)
        return _Step(values, leaf, test_leaf, tree.features, tree.gains)


class _Classifier:
    """The boosted trees of one factor, stage by stage."""

    def __init__(self, labels: Labels, dimensions: int) -> None:
        self.labels = labels
        self.classes, target = np.unique(labels.train, return_inverse=True)
        n, k = len(target), len(self.classes)
        self.binary = k == 2
        self.loss = HalfBinomialLoss() if self.binary else HalfMultinomialLoss(n_classes=k)
        chances = np.clip(np.bincount(target) / n, EPS, 1 - EPS)
        link = self.loss.link.link
        start = link(chances[1:]) if self.binary else link(chances[None])[0]
        # One row per output: the trees of a stage read and write rows.
        self.raw = np.repeat(start[:, None], n, axis=1)
        self.test_raw = np.repeat(start[:, None], len(labels.test), axis=1)
        self.hit = target == (np.ones(1) if self.binary else np.arange(k))[:, None]
        self.factor = 1.0 if self.binary else (k - 1) / k
        self.target = target.astype(np.float64)
        self.importances = np.zeros(dimensions)
        self.seeds = np.random.RandomState(labels.random_state)

    def tasks(self, threads: int) -> list[_Task]:
        """The trees of the next stage; the threads work while the processes wait."""
        raw = self.raw[0].copy() if self.binary else self.raw.T
        slope = self.loss.gradient(y_true=self.target, raw_prediction=raw, n_threads=threads)
        residuals = np.ascontiguousarray(-slope.reshape(self.raw.shape[1], -1).T)
        states = (int(self.seeds.randint(0, 2**31 - 1)) for _ in residuals)
        return [
            _Task(residual, hit, self.factor, state)
            for residual, hit, state in zip(residuals, self.hit, states, strict=True)
        ]

    def add(self, steps: Iterator[_Step]) -> None:
        """Takes the trees of this stage."""
        for raw, test_raw in zip(self.raw, self.test_raw, strict=True):
            step = next(steps)
            raw += step.values[step.leaf]
            test_raw += step.values[step.test_leaf]
            np.add.at(self.importances, step.features, step.gains)

    def result(self) -> Boosted:
        total = self.importances.sum()
        return Boosted(
            self.importances / total if total > 0 else self.importances,
            float(np.mean(self.classes[_decide(self.raw)] == self.labels.train)),
            float(np.mean(self.classes[_decide(self.test_raw)] == self.labels.test)),
        )


def _decide(raw: Float[np.ndarray, "k n"]) -> Int[np.ndarray, " n"]:
    return (raw[0] >= 0).astype(np.int64) if len(raw) == 1 else raw.argmax(axis=0)


def _leaf_values(
    leaf: Int[np.ndarray, " n"], residual: Float[np.ndarray, " n"], hit: Bool[np.ndarray, " n"], factor: float
) -> Float[np.ndarray, " leaves"]:
    """One Newton step on the log-likelihood in each leaf."""
    order = np.argsort(leaf.astype(np.uint8), kind="stable")  # short integers are sorted by counting
    residual, hit = residual[order], hit[order]
    chance = hit - residual
    curvature = chance * (1 - chance)
    values = np.zeros(2**DEPTH)
    ends = np.cumsum(np.bincount(leaf, minlength=2**DEPTH)).tolist()
    for index, (first, end) in enumerate(pairwise([0, *ends])):
        if end > first:
            # Means and ascending samples, as in scikit-learn, for equal rounding.
            below = curvature[first:end].sum() / (end - first)
            above = residual[first:end].sum() / (end - first) * factor
            values[index] = above / below if abs(below) >= 1e-150 else 0.0
    return values
