"""InfoMEC, src/unbraid/metrics/info_mec.py."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score
from torch.testing import assert_close

from tests.metrics.common_cases import CommonCase
from unbraid.metrics import info_mec

COMMON = [
    # Two codes a factor: InfoC = (1/2 - 1/6) / (1 - 1/6) = 0.4, InfoM = InfoE = 1.
    CommonCase("info_mec", info_mec, constant=0, duplicated=0.8, random=None, entangled=0.5, tolerance=0.01),
]


def grid(*sizes: int, repeats: int = 20) -> np.ndarray:
    return np.tile(np.indices(sizes).reshape(len(sizes), -1).T, (repeats, 1))


def test_line_by_line() -> None:
    """The published formulas with scikit-learn's estimates; the third code is too narrow to be active."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, [3, 5], (800, 2))
    codes = factors @ [[1.0, 0.4, 0.0], [0.0, 1.0, 0.01]] + [0.3, 0.3, 0.01] * rng.standard_normal((800, 3))
    table = np.array([mutual_info_classif(codes, v, n_neighbors=10, random_state=0) for v in factors.T])
    table = table / np.array([[mutual_info_score(v, v)] for v in factors.T])  # factors x codes
    pruned = table[:, :2]
    modularity = (np.mean(pruned.max(axis=0) / pruned.sum(axis=0)) - 1 / 2) / (1 - 1 / 2)
    compactness = (np.mean(pruned.max(axis=1) / pruned.sum(axis=1)) - 1 / 2) / (1 - 1 / 2)
    result = info_mec(codes, factors)
    assert result.active.tolist() == [True, True, False]
    assert_close(result.information, table.T, rtol=0, atol=1e-6)
    assert_close(result.modularity, float(modularity), rtol=0, atol=1e-6)
    assert_close(result.compactness, float(compactness), rtol=0, atol=1e-6)
    assert_close(result.score, (result.modularity + result.explicitness + result.compactness) / 3)
    assert (result.n, result.protocol) == (800, "continuous")


def test_explicitness_of_two_overlapping_classes() -> None:
    """A code that is right three times in four: CE is H(¼) = 0.5623 nats of log 2, so InfoE = 0.1887."""
    factors = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (100, 1))
    codes = factors.astype(float)
    codes[:100] = 1 - codes[:100]  # a quarter of the samples, as many of each kind, say the opposite
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert_close(info_mec(codes, factors).explicitness, 1 - entropy / math.log(2), rtol=0, atol=1e-4)


def test_discrete_codes_enter_one_hot() -> None:
    """Whether a code of 0 to 3 is odd: no line tells, a weight for each value does."""
    codes = grid(4, 5)
    factors = np.column_stack([codes[:, 0] % 2, codes[:, 1]])
    result = info_mec(codes.astype(float), factors, protocol="discrete")
    assert_close(result.information, np.eye(2))
    assert_close(result.score, 1.0, rtol=0, atol=1e-3)
    straight = info_mec(codes.astype(float), factors)
    assert_close(straight.modularity, 1.0)
    # Of the line only its slope w is left: -1.5 and 0.5 are even, their mirror images odd.
    loss = minimize_scalar(lambda w: (math.log1p(math.exp(-1.5 * w)) + math.log1p(math.exp(0.5 * w))) / 2).fun
    assert_close(straight.explicitness, (1 - loss / math.log(2) + 1) / 2, rtol=0, atol=1e-3)


def test_random_codes_explain_nothing() -> None:
    """InfoM and InfoC of noise are those of the estimate's noise, so InfoE is the one to look at."""
    factors = grid(4, 5, repeats=100)
    codes = np.random.default_rng(0).standard_normal((len(factors), 3))
    assert info_mec(codes, factors).explicitness < 0.01


def test_one_active_code_has_no_compactness() -> None:
    factors = grid(4, 5)
    result = info_mec(np.column_stack([factors[:, 0], np.zeros(len(factors))]).astype(float), factors)
    assert result.compactness == 0.0
    assert_close(result.modularity, 1.0)


def test_bad_input_gets_one_sentence() -> None:
    factors = grid(2, 2)
    with pytest.raises(ValueError, match="InfoMEC needs at least two factors"):
        info_mec(factors.astype(float), factors[:, :1])
    with pytest.raises(ValueError, match="protocol must be one of continuous, discrete"):
        info_mec(factors.astype(float), factors, protocol="binned")
