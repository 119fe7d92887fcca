"""Average and worst-group accuracy, src/unbraid/metrics/group_accuracy.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from unbraid.metrics import group_accuracy


def test_by_hand() -> None:
    """Classes 0, 1 under nuisances 3, 8. Right: (0,3) 2/2, (0,8) 1/2, (1,3) 0/1, (1,8) 3/3.

    Average 6/8; worst group 0; nuisance 3 has 2/3, nuisance 8 has 4/5.
    """
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    nuisance = np.array([3, 3, 8, 8, 3, 8, 8, 8])
    predictions = np.array([0, 0, 0, 1, 0, 1, 1, 1])
    result = group_accuracy(predictions, labels, nuisance)
    assert_close(result.score, 0.75)
    assert_close(result.worst, 0.0)
    assert_close(result.worst_nuisance, 2 / 3)
    assert result.groups.tolist() == [[0, 3], [0, 8], [1, 3], [1, 8]]
    assert_close(result.per_group, np.array([1.0, 0.5, 0.0, 1.0]))
    assert result.sizes.tolist() == [2, 2, 1, 3]
    assert_close(result.per_nuisance, np.array([2 / 3, 4 / 5]))
    assert result.n == 8


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_group_by_group(seed: int) -> None:
    rng = np.random.default_rng(seed)
    predictions, labels = rng.integers(0, 3, (2, 40))
    nuisances = rng.integers(-2, 2, (40, 2))
    result = group_accuracy(predictions, labels, nuisances)
    right = predictions == labels

    def worst(columns: int) -> float:
        keys = [(int(y), *map(int, v[:columns])) for y, v in zip(labels, nuisances, strict=True)]
        return min(np.mean([r for r, k in zip(right, keys, strict=True) if k == key]) for key in set(keys))

    assert_close(result.worst, float(worst(1)))
    assert_close(result.worst_fine, float(worst(2)))
    assert_close(float(result.per_group @ result.sizes / 40), result.score)
    assert_close(float(result.per_fine_group @ result.fine_sizes / 40), result.score)
    assert result.worst_fine <= result.worst <= result.worst_nuisance <= result.score


def test_conditions_by_hand() -> None:
    """At 65 the groups (0,0) 1/2 and (1,0) 1/1; at -65 (0,0) 0/1, (0,1) 1/1."""
    labels, nuisance = np.array([0, 0, 1, 0, 0]), np.array([0, 0, 0, 0, 1])
    predictions, angle = np.array([0, 1, 1, 1, 0]), np.array(["+65", "+65", "+65", "-65", "-65"])
    result = group_accuracy(predictions, labels, nuisance, hidden_nuisances={"angle": angle})
    assert result.accuracy_at == {"angle=+65": 2 / 3, "angle=-65": 0.5}
    assert result.worst_at == {"angle=+65": 0.5, "angle=-65": 0.0}
    with pytest.raises(ValueError, match="hidden nuisance 'angle' must have one value per sample"):
        group_accuracy(predictions, labels, nuisance, hidden_nuisances={"angle": angle[:2]})


def test_constant_nuisance_is_one_group_a_class() -> None:
    result = group_accuracy(np.array([0, 1, 1]), np.array([0, 0, 1]), np.zeros(3, int))
    assert_close(result.worst, 0.5)
    assert_close(result.worst_nuisance, result.score)


def test_bad_input_gets_one_sentence() -> None:
    labels = np.array([0, 1, 1])
    with pytest.raises(ValueError, match="predictions must be one integer per sample"):
        group_accuracy(np.zeros((3, 2)), labels, labels)
    with pytest.raises(ValueError, match="predictions must be integers"):
        group_accuracy(np.zeros(3), labels, labels)
    with pytest.raises(ValueError, match="nuisances must have one row per sample"):
        group_accuracy(labels, labels, labels[:2])
