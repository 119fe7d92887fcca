"""Unsupervised disentanglement ranking, src/unbraid/metrics/udr.py."""

import warnings

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import Lasso
from torch.testing import assert_close

from unbraid.metrics import udr

CODES = np.tile(np.indices((4, 5, 6)).reshape(3, -1).T, (4, 1)).astype(float)  # exactly independent


def slow_udr(first: np.ndarray, second: np.ndarray, protocol: str) -> float:
    """One pair of models, target by target."""
    first, second = ((z - z.mean(axis=0)) / z.std(axis=0) for z in (first, second))
    if protocol == "lasso":
        relation = np.array([np.abs(Lasso(alpha=0.1).fit(first, b).coef_) for b in second.T]).T
    else:
        relation = np.array([[abs(spearmanr(a, b).statistic) for b in second.T] for a in first.T])
    columns = [max(column) ** 2 / sum(column) for column in relation.T]
    rows = [max(row) ** 2 / sum(row) if sum(row) else 0.0 for row in relation]
    return float((np.mean(columns) + np.mean(rows)) / 2)


@pytest.mark.parametrize("protocol", ["lasso", "spearman"])
def test_pair_by_pair(protocol: str) -> None:
    rng = np.random.default_rng(0)
    source = rng.standard_normal((300, 3))
    models = [source @ rng.standard_normal((3, d)) + 0.1 * rng.standard_normal((300, d)) for d in (3, 4, 3)]
    result = udr(models, protocol=protocol)
    for i in range(3):
        for j in range(3):
            if i != j:
                slow = slow_udr(models[i], models[j], protocol)
                assert_close(float(result.pairwise[i, j]), slow, rtol=0, atol=1e-6)
    medians = [np.median(np.delete(result.pairwise[:, j], j)) for j in range(3)]
    assert_close(result.per_model, np.array(medians))
    assert_close(result.score, float(max(medians)))
    assert (result.best, result.n, result.protocol) == (int(np.argmax(medians)), 300, protocol)


def test_equal_models_up_to_order_sign_and_scale() -> None:
    """Lasso shrinks a weight of 1 by its penalty: 0.9² / 0.9 = 0.9. Rank correlations are 1."""
    models = [CODES, CODES[:, [2, 0, 1]] * [-1.0, 3.0, 0.5]]
    assert_close(udr(models).per_model, np.array([0.9, 0.9]))
    assert_close(udr(models, protocol="spearman").per_model, np.array([1.0, 1.0]))


def test_the_rotated_model_comes_last() -> None:
    rng = np.random.default_rng(0)
    rotated = CODES / CODES.std(axis=0) @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    for protocol in ("lasso", "spearman"):
        result = udr([CODES, rotated, -CODES, 2 * CODES], protocol=protocol)
        assert result.per_model.argmin() == 1
        assert result.best != 1


def test_uninformative_codes_are_left_out() -> None:
    noise = np.random.default_rng(0).standard_normal(len(CODES))
    models = [np.column_stack([CODES, noise]), np.column_stack([CODES, np.full(len(CODES), 0.1)])]
    kl = [np.array([1.0, 1.0, 1.0, 0.01]), np.array([1.0, 1.0, 1.0, 0.0])]
    assert_close(udr(models, kl=kl).per_model, np.array([0.9, 0.9]))
    assert udr(models).score < 0.9
    dead = np.zeros_like(CODES)
    assert_close(udr([CODES, dead]).per_model, np.array([0.0, 0.0]))


def test_bad_input_gets_one_sentence() -> None:
    with pytest.raises(ValueError, match="at least two tables; got 1"):
        udr([CODES])
    with pytest.raises(ValueError, match=r"models\[1\] must have one row per sample"):
        udr([CODES, CODES[:-1]])
    with pytest.raises(ValueError, match="kl must hold one row per model"):
        udr([CODES, CODES], kl=[np.ones(3)])
    with pytest.raises(ValueError, match=r"kl\[1\] must have one value per dimension, 3"):
        udr([CODES, CODES], kl=[np.ones(3), np.ones(2)])
    with pytest.raises(ValueError, match="protocol must be one of lasso, spearman"):
        udr([CODES, CODES], protocol="ridge")


def test_codes_that_are_nearly_the_same_are_compared_without_a_warning() -> None:
    """Where least squares with so small a penalty would take more than a thousand steps."""
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(300, 6))
    alike = codes[:, :1] + 0.1 * rng.normal(size=(300, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        udr([alike, codes], alpha=1e-6)
