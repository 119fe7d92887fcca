"""Active codes, src/unbraid/metrics/active_dims.py."""

import numpy as np
from torch.testing import assert_close

from unbraid.metrics import active_dims


def test_by_hand() -> None:
    """Columns ±1, ±0.11, ±0.09 and a constant have variances 1, 0.0121, 0.0081 and 0."""
    codes = np.array([[1.0], [-1.0]]) * [1.0, 0.11, 0.09, 0.0] + 5
    result = active_dims(codes)
    assert_close(result.variance, np.array([1.0, 0.0121, 0.0081, 0.0]))
    assert result.active.tolist() == [True, True, False, False]
    assert type(result.score) is float
    assert_close(result.score, 2.0)
    assert (result.n, result.threshold) == (2, 0.01)
    assert_close(active_dims(codes, threshold=0.5).score, 1.0)


def test_constant_codes_score_zero() -> None:
    assert active_dims(np.full((9, 3), 0.1)).score == 0.0
