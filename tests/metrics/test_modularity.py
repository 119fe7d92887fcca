"""Modularity, src/unbraid/metrics/modularity.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score
from torch.testing import assert_close

from tests.metrics.common_cases import CommonCase
from unbraid.metrics import modularity

COMMON = [
    CommonCase("modularity", modularity, constant=0, duplicated=1, random=None, entangled=0.4),
]

BITS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def slow_modularity(codes: np.ndarray, factors: np.ndarray, bins: int) -> float:
    """Code by code: its squared distance from the template that has only its largest entry."""
    scores = []
    for z in codes.T:
        binned = np.digitize(z, np.histogram(z, bins)[1][:-1])
        known = np.array([mutual_info_score(binned, v) for v in factors.T])
        template = np.where(np.arange(len(known)) == known.argmax(), known, 0)
        distance = ((known - template) ** 2).sum() / (known.max() ** 2 * (len(known) - 1))
        scores.append(1 - distance)
    return float(np.mean(scores))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_code_by_code(seed: int) -> None:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, [2, 5, 9], (200, 3))
    factors[:2] = [[0, 0, 0], [1, 1, 1]]
    codes = factors @ rng.standard_normal((3, 4)) + rng.standard_normal((200, 4))
    assert_close(modularity(codes, factors).score, slow_modularity(codes, factors, 20), rtol=0, atol=1e-9)


def test_by_hand() -> None:
    """Of two bits, the sum knows both equally: 1 - 1 = 0; a bit knows itself only: 1; a constant: 0."""
    codes = np.column_stack([BITS[:, 0], BITS.sum(axis=1), np.ones(4)]).astype(float)
    result = modularity(codes, BITS)
    assert_close(result.per_dim, np.array([1.0, 0.0, 0.0]))
    assert_close(result.score, 1 / 3)
    assert (result.n, result.bins, result.binning) == (4, 20, "equal_width")


def test_one_code_is_enough_and_one_factor_is_not() -> None:
    assert_close(modularity(BITS[:, :1].astype(float), BITS).score, 1.0)
    with pytest.raises(ValueError, match="modularity needs at least two factors"):
        modularity(BITS.astype(float), BITS[:, :1])
