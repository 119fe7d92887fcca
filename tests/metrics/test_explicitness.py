"""Explicitness, src/unbraid/metrics/explicitness.py."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from torch.testing import assert_close

from tests.metrics.common_cases import CommonCase
from unbraid.metrics import explicitness
from unbraid.metrics.explicitness import roc_areas

COMMON = [
    CommonCase(
        "explicitness",
        lambda codes, factors: explicitness(codes, factors, test_codes=codes, test_factors=factors),
        constant=0.5,
        duplicated=1,
        random=0.6,
        entangled=None,
        tolerance=1e-3,
    ),
    CommonCase(
        "explicitness, one vs rest",
        lambda codes, factors: explicitness(
            codes, factors, test_codes=codes, test_factors=factors, protocol="one_vs_rest"
        ),
        constant=0.5,
        duplicated=73 / 90,
        random=0.6,
        entangled=None,
        # One line ranks the i-th of v values above the longer side only: v = 4 gives (1, 2/3, 2/3, 1),
        # 5 gives (1, 3/4, 1/2, 3/4, 1), 6 gives (1, 4/5, 3/5, 3/5, 4/5, 1); mean 5/6, 4/5, 4/5.
        identity=73 / 90,
    ),
]


def sample(seed: int, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, [3, 5], (n, 2))
    return factors @ [[1.0, 0.5, 0.0], [0.0, 1.0, 0.3]] + rng.standard_normal((n, 3)), factors


def test_areas_count_pairs() -> None:
    """Scores 1, 2, 2, 3 with 2 and 3 inside: of 4 pairs 3 are in order and one is tied: 3.5 / 4."""
    scores = np.array([[1.0], [2.0], [2.0], [3.0]])
    assert_close(roc_areas(scores, np.array([0, 0, 1, 1]), np.array([1])), np.array([0.875]))
    assert np.isnan(roc_areas(scores, np.array([0, 0, 1, 1]), np.array([7]))).all()


def test_value_by_value_with_scikit_learn() -> None:
    (codes, factors), (test_codes, test_factors) = sample(0), sample(1, 300)
    mean, deviation = codes.mean(axis=0), codes.std(axis=0)
    areas = []
    for labels, truth in zip(factors.T, test_factors.T, strict=True):
        fit = LogisticRegression(max_iter=1000).fit((codes - mean) / deviation, labels)
        scores = fit.predict_proba((test_codes - mean) / deviation)
        areas.append(np.mean([roc_auc_score(truth == c, scores[:, c]) for c in range(scores.shape[1])]))
    result = explicitness(codes, factors, test_codes=test_codes, test_factors=test_factors)
    assert_close(result.per_factor, np.array(areas), rtol=0, atol=1e-9)
    assert_close(result.normalized, 2 * result.score - 1)
    assert (result.n, result.n_test, result.protocol) == (600, 300, "disentanglement_lib")


def test_a_constant_code_changes_nothing() -> None:
    (codes, factors), (test_codes, test_factors) = sample(0), sample(1)
    without = explicitness(codes, factors, test_codes=test_codes, test_factors=test_factors)
    tables = (np.column_stack([table, np.full(600, 0.1)]) for table in (codes, test_codes))
    codes, test_codes = tables
    dead = explicitness(codes, factors, test_codes=test_codes, test_factors=test_factors)
    assert_close(dead.score, without.score, rtol=0, atol=1e-4)


def test_values_missing_from_one_sample() -> None:
    """Unseen in training: 0.5, by tie. Unseen in the test: left out."""
    factors = np.repeat([0, 1], 50)[:, None]
    test_factors = np.repeat([0, 1, 2], 50)[:, None]
    codes, test_codes = factors.astype(float), test_factors.astype(float)
    # 0 and 1 as in training; value 2 lies beyond 1: against 0 and 2, value 1 wins half: 0.5, and 0 wins 1.
    result = explicitness(codes, factors, test_codes=test_codes, test_factors=test_factors)
    assert_close(result.score, (0.5 + 1.0 + 0.5) / 3)
    swapped = explicitness(test_codes, test_factors, test_codes=codes, test_factors=factors)
    assert_close(swapped.score, 1.0)


def test_bad_test_sample_gets_one_sentence() -> None:
    codes, factors = sample(0)
    with pytest.raises(ValueError, match="test_codes must have 3 columns"):
        explicitness(codes, factors, test_codes=codes[:, :2], test_factors=factors)
    with pytest.raises(ValueError, match="test_factors must have one row per sample"):
        explicitness(codes, factors, test_codes=codes, test_factors=factors[:-1])
    with pytest.raises(ValueError, match="protocol must be one of"):
        explicitness(codes, factors, test_codes=codes, test_factors=factors, protocol="svm")
