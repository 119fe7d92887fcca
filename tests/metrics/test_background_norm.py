"""How far the background's codes are from zero, src/unbraid/metrics/background_norm.py."""

import numpy as np
import pytest

from unbraid.metrics import background_norm


def test_by_hand() -> None:
    result = background_norm(
        np.array([[3.0, 4.0], [0.0, 5.0]]), np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 1.0]])
    )
    assert (result.score, result.target, result.share, result.n_background) == (2.0, 25.0, 0.08, 3)


def test_zero_is_zero_and_codes_of_another_size_are_refused() -> None:
    assert background_norm(np.ones((4, 2)), np.zeros((4, 2))).share == 0.0
    with pytest.raises(ValueError, match="background_codes must have 2 columns"):
        background_norm(np.ones((4, 2)), np.zeros((4, 3)))
