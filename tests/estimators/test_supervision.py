"""Labels and nuisances of arrays, src/unbraid/estimators/supervision.py."""

import numpy as np
import pytest
import torch

from unbraid.data import Dataset
from unbraid.estimators.supervision import class_column, with_supervision

ROWS = Dataset(torch.rand(4, 2), name="rows", max_value=1)


def test_labels_and_nuisances_are_numbered() -> None:
    found = with_supervision(ROWS, ["cat", "dog", "cat", "ant"], np.array([[3, 0], [3, 9], [7, 0], [3, 0]]))
    labels, nuisances = found.labels_and_nuisances(found.factors(torch.arange(4)))
    assert labels is not None and labels.tolist() == [1, 2, 1, 0]
    assert nuisances is not None and nuisances.tolist() == [[0, 0], [0, 1], [1, 0], [0, 0]]
    assert found.counts == {"n": 4, "classes": 3, "nuisances": (2, 2)}
    assert torch.equal(found.observe(torch.arange(4)), ROWS.observe(torch.arange(4)))


def test_one_nuisance_alone() -> None:
    found = with_supervision(ROWS, None, ["a", "b", "b", "b"])
    assert found.counts == {"n": 4, "classes": 0, "nuisances": (2,)} and found.label is None


def test_batches_are_those_of_the_observations_alone() -> None:
    known = with_supervision(ROWS, [0, 1, 1, 5])
    rows = [each.sample_indices(9, torch.Generator().manual_seed(3)) for each in (ROWS, known)]
    assert torch.equal(*rows)


@pytest.mark.parametrize("y", [None, [0.5, 1.0, 2.0, 3.0], np.zeros((4, 2)), [1.0, np.nan, 2.0, 3.0]])
def test_a_y_without_classes_is_ignored(y: object) -> None:
    assert with_supervision(ROWS, y) is ROWS


def test_columns_of_classes() -> None:
    for y in (
        [0, 1],
        [True, False],
        ["a", "b"],
        [1.0, 2.0],
        np.array([[0], [1]]),
        np.array(["a", 1], object),
    ):
        column = class_column(y)
        assert column is not None and column.shape == (2,)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        with_supervision(ROWS, [0, 1, 1])
