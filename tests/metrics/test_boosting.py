"""Boosted trees equal to scikit-learn's, src/unbraid/metrics/boosting.py."""

import importlib.util
import tomllib
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import GradientBoostingClassifier
from torch.testing import assert_close

from unbraid.metrics.boosting import Boosted, Labels, boost

ROOT = Path(__file__).parents[2]


def draw(classes: int, n: int, seed: int, kind: str = "real") -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, classes, (n, 3))
    codes = factors @ rng.standard_normal((3, 6)) + 0.5 * rng.standard_normal((n, 6))
    if kind == "integer":
        codes = np.column_stack([factors, rng.integers(0, 3, n), np.zeros(n), rng.standard_normal(n)])
    return codes.astype(np.float64), factors[:, 0]


def boosted(
    codes: np.ndarray,
    labels: np.ndarray,
    test_codes: np.ndarray,
    test_labels: np.ndarray,
    seed: int,
    **options: int,
) -> Boosted:
    (fit,) = boost(codes, test_codes, [Labels(labels, test_labels, seed)], **options)
    return fit


@pytest.mark.parametrize(
    ("classes", "n", "kind"),
    [(2, 200, "real"), (3, 300, "real"), (12, 200, "real"), (60, 150, "real"), (4, 200, "integer")],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_scikit_learn(classes: int, n: int, kind: str, seed: int) -> None:
    """Few samples in many classes make ties common: the importances of two seeds differ, ours do not."""
    codes, labels = draw(classes, 2 * n, seed, kind)
    ours = boosted(codes[:n], labels[:n], codes[n:], labels[n:], seed, stages=8)
    theirs = GradientBoostingClassifier(random_state=seed, n_estimators=8).fit(codes[:n], labels[:n])
    assert_close(ours.importances, theirs.feature_importances_, rtol=0, atol=1e-10)
    assert_close(ours.train_accuracy, theirs.score(codes[:n], labels[:n]), rtol=0, atol=1e-12)
    assert_close(ours.test_accuracy, theirs.score(codes[n:], labels[n:]), rtol=0, atol=1e-12)


def test_equals_scikit_learn_to_the_last_stage() -> None:
    codes, labels = draw(3, 400, 5)
    ours = boosted(codes[:200], labels[:200], codes[200:], labels[200:], 5)
    theirs = GradientBoostingClassifier(random_state=5).fit(codes[:200], labels[:200])
    assert_close(ours.importances, theirs.feature_importances_, rtol=0, atol=1e-10)
    assert_close(ours.test_accuracy, theirs.score(codes[200:], labels[200:]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("processes", [1, 2])
def test_classifiers_that_are_fitted_together_are_those_fitted_alone(processes: int) -> None:
    """Bit for bit, whatever the number of processes; the second has two classes, whose trees are half as many."""
    codes, first = draw(4, 300, 6)
    labels = [Labels(each[:200], each[200:], seed) for seed, each in enumerate([first, first % 2, 9 - first])]
    together = boost(codes[:200], codes[200:], labels, stages=4, processes=processes)
    for each, found in zip(labels, together, strict=True):
        alone = boosted(codes[:200], each.train, codes[200:], each.test, each.random_state, stages=4)
        np.testing.assert_array_equal(found.importances, alone.importances)
        assert found[1:] == alone[1:]


def test_constant_codes_have_no_importance() -> None:
    labels = np.arange(20) % 2
    ours = boosted(np.ones((20, 3)), labels, np.ones((20, 3)), labels, 0, stages=3)
    assert_close(ours.importances, np.zeros(3))
    assert_close(ours.train_accuracy, 0.5)


def test_labels_keep_their_names() -> None:
    codes = np.repeat([[-1.0], [0.0], [1.0]], 10, axis=0)
    labels = np.repeat([7, -3, 100], 10)
    assert_close(boosted(codes, labels, codes, labels, 0, stages=5).test_accuracy, 1.0)


def test_scikit_learn_still_has_the_private_losses() -> None:
    """boosting.py depends on `sklearn._loss`, so pyproject.toml has an upper bound on scikit-learn."""
    advice = (
        f"scikit-learn {sklearn.__version__} changed sklearn._loss: lower its upper bound in pyproject.toml."
    )
    losses = importlib.import_module("sklearn._loss") if importlib.util.find_spec("sklearn._loss") else None
    for name in ("HalfBinomialLoss", "HalfMultinomialLoss"):
        assert hasattr(getattr(losses, name, None), "gradient"), advice
    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (requirement,) = (line for line in requirements if line.startswith("scikit-learn"))
    assert "<" in requirement, "scikit-learn needs an upper bound in pyproject.toml."
