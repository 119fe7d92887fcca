"""Explicitness. Ridgeway and Mozer, 2018, Learning Deep Disentangled Embeddings with the F-Statistic Loss,
arXiv:1802.05312, Sec. 3."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression

from unbraid.metrics.arrays import as_codes, as_factors, require_protocol, standardize

PROTOCOLS = ("disentanglement_lib", "one_vs_rest")


class Explicitness(NamedTuple):
    score: float  # mean over factors of the test ROC-AUC: 1 is perfect, 0.5 is chance
    per_factor: Float[np.ndarray, " k"]
    train_score: float
    normalized: float  # 2 score - 1, so that chance is 0
    n: int
    n_test: int
    protocol: str

    higher_is_better = True
    bounds = (0.0, 1.0)


def explicitness(
    codes: np.ndarray,
    factors: np.ndarray,
    *,
    test_codes: np.ndarray,
    test_factors: np.ndarray,
    protocol: str = "disentanglement_lib",
) -> Explicitness:
    """Area under the one-vs-rest ROC curves of a linear classifier per factor.

    Logistic regression on codes standardized by the training sample; the area is averaged over the
    values of a factor, then over factors. `disentanglement_lib` fits one multinomial regression per
    factor, `one_vs_rest` one binary regression per value. A value missing from the test sample has no
    area and is left out; one missing from the training sample gets 0.5. Constant dimensions have no effect.
    """
    require_protocol(protocol, PROTOCOLS)
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    test_codes = as_codes(test_codes, name="test_codes", columns=codes.shape[1])
    test_factors = as_factors(
        test_factors, samples=len(test_codes), columns=factors.shape[1], name="test_factors"
    )
    train, test = standardize(codes, test_codes)
    areas = [
        _areas(train, labels, test, test_labels, protocol)
        for labels, test_labels in zip(factors.T, test_factors.T, strict=True)
    ]
    train_areas, per_factor = np.array(areas).T
    score = float(per_factor.mean())
    return Explicitness(
        score, per_factor, float(train_areas.mean()), 2 * score - 1, len(codes), len(test_codes), protocol
    )


def roc_areas(
    scores: Float[np.ndarray, "n v"], labels: Int[np.ndarray, " n"], values: Int[np.ndarray, " v"]
) -> Float[np.ndarray, " v"]:
    """Area under the ROC curve of each column as a detector of its value; NaN for an absent value.

    It is the share of (positive, negative) pairs in the correct order, where ties count half.
    """
    inside = labels[:, None] == values
    positive = inside.sum(axis=0)
    negative = len(labels) - positive
    ranks = np.where(inside, rankdata(scores, axis=0), 0.0).sum(axis=0)
    pairs = positive * negative
    ordered = ranks - positive * (positive + 1) / 2
    return np.divide(ordered, pairs, out=np.full(len(values), np.nan), where=pairs > 0)


def _areas(
    train: Float[np.ndarray, "n d"],
    labels: Int[np.ndarray, " n"],
    test: Float[np.ndarray, "t d"],
    test_labels: Int[np.ndarray, " t"],
    protocol: str,
) -> tuple[float, float]:
    """Mean area on the training and on the test sample."""
    values = np.unique(labels)
    if protocol == "one_vs_rest":
        fits = [LogisticRegression(max_iter=1000).fit(train, labels == value) for value in values]
        train_scores, test_scores = (
            np.stack([fit.decision_function(x) for fit in fits], axis=1) for x in (train, test)
        )
    else:
        fit = LogisticRegression(max_iter=1000).fit(train, labels)
        train_scores, test_scores = fit.predict_proba(train), fit.predict_proba(test)
    train_areas = roc_areas(train_scores, labels, values)
    test_areas = roc_areas(test_scores, test_labels, values)
    unseen = np.full(len(np.setdiff1d(test_labels, values)), 0.5)
    return float(train_areas.mean()), float(np.nanmean(np.concatenate([test_areas, unseen])))
