"""Linear SVMs on one code, src/unbraid/metrics/one_dim_svm.py."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC
from torch.testing import assert_close

from unbraid.metrics.one_dim_svm import fit_one_dim_svms, predict_one_dim_svms


def loss(w: float, b: float, code: np.ndarray, positive: np.ndarray, weight: float, rest: float) -> float:
    """The objective of one class against the rest, written out."""
    signs = np.where(positive, 1.0, -1.0)
    hinge = np.maximum(0, 1 - signs * (w * code + b))
    return (w * w + b * b) / 2 + float(np.where(positive, weight, rest) @ hinge**2)


def test_two_points_by_hand() -> None:
    """Code -1 in class 0, +1 in class 1, both weights 1: w minimizes w²/2 + C 2 (1 - w)², b is 0.

    So w = 4C / (1 + 4C) = 4/5 for C = 1.
    """
    ((w, b),) = fit_one_dim_svms(np.array([-1.0, 1.0]), [np.array([0, 1])], penalty=1.0)
    assert_close(w, np.array([0.8]))
    assert_close(b, np.array([0.0]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_loss_is_least(seed: int) -> None:
    rng = np.random.default_rng(seed)
    target = rng.permutation(np.arange(60) % 5)
    code = target * rng.standard_normal() + rng.standard_normal(60) + 3 * rng.standard_normal()
    ((weights, intercepts),) = fit_one_dim_svms(code, [target], penalty=0.01)
    for k in range(5):
        at = (code, target == k, 0.01 * 60 / (5 * np.sum(target == k)), 0.01)
        least = loss(weights[k], intercepts[k], *at)
        for step in rng.standard_normal((20, 2)) * 1e-3:
            assert loss(weights[k] + step[0], intercepts[k] + step[1], *at) >= least - 1e-12


@pytest.mark.parametrize("classes", [2, 3, 12])
def test_equals_scikit_learn_at_its_optimum(classes: int) -> None:
    rng = np.random.default_rng(classes)
    targets = [np.unique(rng.integers(0, classes, 300), return_inverse=True)[1] for _ in range(2)]
    code = 0.7 * targets[0] + rng.standard_normal(300)
    for target, fitted in zip(targets, fit_one_dim_svms(code, targets, penalty=0.01), strict=True):
        model = LinearSVC(C=0.01, class_weight="balanced", dual=False, tol=1e-12, max_iter=100_000)
        model.fit(code[:, None], target)
        assert_close(fitted[0], model.coef_[:, 0], rtol=1e-5, atol=1e-8)
        assert_close(fitted[1], model.intercept_, rtol=1e-5, atol=1e-8)
        assert_close(predict_one_dim_svms(code, fitted), model.predict(code[:, None]))


def test_a_constant_code_gives_one_answer() -> None:
    target = np.array([0, 0, 0, 1, 2, 2])
    (fitted,) = fit_one_dim_svms(np.full(6, 3.0), [target], penalty=0.01)
    assert len(np.unique(predict_one_dim_svms(np.full(6, 3.0), fitted))) == 1
