"""Arrays from other tools, src/unbraid/evaluation/arrays.py."""

import copy

import numpy as np
import pytest

from unbraid.evaluation.arrays import Arrays, NotAvailable


def test_arrays_have_what_was_passed() -> None:
    arrays = Arrays(np.zeros((3, 2)), np.ones((3, 1)))
    assert arrays.factors.shape == (3, 1)
    with pytest.raises(NotAvailable, match="needs labels, and the files contain none"):
        _ = arrays.labels
    with pytest.raises(ValueError, match="Strands are not known for arrays, so 'salient' cannot be selected"):
        arrays.select_strand("salient")


def test_arrays_can_be_copied() -> None:
    assert copy.deepcopy(Arrays(np.zeros((3, 2)))).codes.shape == (3, 2)
