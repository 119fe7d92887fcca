"""Variation predictability, src/unbraid/metrics/variation_predictability.py."""

import numpy as np
import pytest

from tests.metrics.test_translation_difficulty import bars, codes
from unbraid.metrics import variation_predictability


def test_what_differs_plainly_is_told_apart() -> None:
    result = variation_predictability(
        bars, codes(), rng=np.random.default_rng(0), pairs=600, epochs=8, width=8
    )
    assert result.score > 0.9 and result.chance == 0.5 and result.curve.shape == (4,)
    assert result.score == result.curve.max() and result.last == result.curve[-1]


def test_what_differs_faintly_is_told_apart_as_well() -> None:
    """A hundredth of the contrast; a network without batch normalization stays at chance."""
    result = variation_predictability(
        lambda z: 0.01 * bars(z),
        codes(),
        rng=np.random.default_rng(0),
        pairs=600,
        epochs=15,
        width=8,
        batch=8,
    )
    assert result.score > 0.75


def test_what_does_not_differ_is_guessed() -> None:
    result = variation_predictability(
        lambda z: bars(0 * z), codes(), rng=np.random.default_rng(0), pairs=600, epochs=2, width=8
    )
    assert abs(result.score - 0.5) < 0.1


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="at least 40 pairs and 1 epoch"):
        variation_predictability(bars, codes(), rng=np.random.default_rng(0), pairs=10)
