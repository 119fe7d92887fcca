"""Boosted trees on bins, src/unbraid/metrics/histogram_boosting.py."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from torch.testing import assert_close

from unbraid.metrics import histogram_boosting
from unbraid.metrics.histogram_boosting import boost_histograms


def draw(n: int, seed: int, classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, classes, (n, 2))
    codes = factors @ rng.standard_normal((2, 5)) + 0.3 * rng.standard_normal((n, 5))
    return codes, factors[:, 0]


@pytest.mark.parametrize("seed", range(3))
def test_is_the_classical_model_when_every_value_has_its_bin(seed: int) -> None:
    """Codes of 20 values: bins lose nothing, so equal stages and rate give scikit-learn's importances."""
    codes, labels = draw(600, seed)
    codes = np.stack([np.digitize(c, np.quantile(c, np.arange(1, 20) / 20)) for c in codes.T], axis=1) * 1.0
    ours = boost_histograms(codes, labels, codes, labels, bins=200, stages=5, rate=0.1)
    theirs = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(codes, labels)
    assert_close(ours.importances, theirs.feature_importances_, rtol=0, atol=0.01)
    assert_close(ours.train_accuracy, theirs.score(codes, labels), rtol=0, atol=0.01)


def test_order_of_codes_and_samples_does_not_matter() -> None:
    for seed in range(10):  # sixty samples: ties in most trees
        codes, labels = draw(60, seed)
        rng = np.random.default_rng(seed)
        samples, columns = rng.permutation(60), rng.permutation(5)
        plain = boost_histograms(codes, labels, codes, labels)
        moved = boost_histograms(
            codes[samples][:, columns], labels[samples], codes[:, columns], labels, stages=16
        )
        assert_close(moved.importances, plain.importances[columns], rtol=0, atol=1e-6)


def test_equal_codes_share_their_importance() -> None:
    codes, labels = draw(300, 0)
    twice = np.column_stack([codes[:, 0], codes])
    result = boost_histograms(twice, labels, twice, labels)
    assert_close(result.importances[0], result.importances[1])


def test_blocks_of_classes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, labels = draw(200, 0, classes=7)
    whole = boost_histograms(codes, labels, codes, labels)
    monkeypatch.setattr(histogram_boosting, "BLOCK", 400)  # two classes at a time
    assert_close(boost_histograms(codes, labels, codes, labels).importances, whole.importances)


def test_more_than_256_bins_would_not_fit() -> None:
    codes, labels = draw(50, 0)
    with pytest.raises(ValueError, match="bins must be between 2 and 256; got 300"):
        boost_histograms(codes, labels, codes, labels, bins=300)
