"""Accuracy class by class, src/unbraid/metrics/class_accuracy.py."""

import numpy as np
import pytest

from unbraid.metrics import class_accuracy


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_classes_that_lie_apart_are_told_and_the_others_guessed() -> None:
    """Class 0 lies by itself; 1 and 2 lie on each other."""
    labels = np.repeat([0, 1, 2], 200)
    codes = np.where(labels[:, None] == 0, 10.0, 0.0) + rng(1).standard_normal((600, 3))
    result = class_accuracy(codes, labels, rng=rng(), class_names=("a", "b", "c"))
    assert result.per_class["a"] == 1.0
    assert 0.3 < result.per_class["b"] < 0.7 and 0.3 < result.per_class["c"] < 0.7
    assert result.score == pytest.approx(np.mean(list(result.per_class.values())))
    assert result.chance == pytest.approx(1 / 3) and result.n == 600


def test_noise_is_at_chance_because_what_is_tested_was_not_seen() -> None:
    labels = np.repeat([0, 1], 100)
    result = class_accuracy(rng(2).standard_normal((200, 50)), labels, rng=rng())
    assert abs(result.score - 0.5) < 0.1  # fitted and tested on the same, it would be above 0.8


def test_a_thing_that_is_drawn_again_and_again_counts_once() -> None:
    """With copies in fitting and testing, noise of 150 columns would be told by heart."""
    labels, codes = np.repeat([0, 1], 100), rng(2).standard_normal((200, 150))
    drawn = np.concatenate([np.arange(200), rng(4).integers(0, 200, 1000)])
    copies = class_accuracy(codes[drawn], labels[drawn], rng=rng(), instances=drawn)
    assert copies == class_accuracy(codes, labels, rng=rng())
    assert class_accuracy(codes[drawn], labels[drawn], rng=rng()).score > 0.75


def test_rare_classes_count_as_much_as_common_ones() -> None:
    labels = np.repeat([0, 1], [950, 50])
    codes = labels[:, None] + rng(3).standard_normal((1000, 1))
    result = class_accuracy(codes, labels, rng=rng())
    assert result.per_class["1"] > 0.5  # one that always names the common class would have 0
    assert set(result.per_class) == {"0", "1"}


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="at least two classes, two folds and 5 samples of each class"):
        class_accuracy(np.ones((6, 2)), np.array([0, 0, 0, 0, 0, 1]), rng=rng())
