"""The translation metric, src/unbraid/metrics/translation_difficulty.py."""

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics import translation_difficulty

SIDE = 16


def codes(n: int = 600, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (n, 2))


def bars(z: np.ndarray) -> np.ndarray:
    """Two features that do different things: a bar's place, and the brightness of the ground below it.

    Both go around: -1 and 1 are the same.
    """
    places = np.arange(SIDE)
    gap = np.abs(places - (z[:, 0, None] + 1) / 2 * SIDE) % SIDE
    bar = np.clip(2.5 - np.minimum(gap, SIDE - gap), 0, 1)[:, None, None, :]
    ground = np.abs((z[:, 1] + 1) % 2 - 1)[:, None, None, None]
    picture = np.where(np.arange(SIDE)[:, None] < SIDE // 2, bar, ground * np.ones_like(bar))
    return picture.astype(np.float32)


def rotated(z: np.ndarray) -> np.ndarray:
    """The same pictures from turned codes: each moves both features, and uniform codes give uniform features."""
    return bars((z @ np.array([[1.0, -1.0], [1.0, 1.0]]) + 1) % 2 - 1)


def test_a_disentangled_generator_is_easier_than_a_rotated_one() -> None:
    scores = [
        np.mean([
            translation_difficulty(
                generate, codes(seed=seed), rng=np.random.default_rng(seed), steps=30, values=2, images=128
            ).score
            for seed in range(3)
        ])
        for generate in (bars, rotated)
    ]  # fmt: skip
    assert scores[0] < 0.9 * scores[1]


def test_more_steps_miss_less() -> None:
    few, many = (
        translation_difficulty(bars, codes(), rng=np.random.default_rng(0), steps=steps, images=128).score
        for steps in (2, 60)
    )
    assert many < 0.7 * few


def test_dead_features_are_named() -> None:
    result = translation_difficulty(
        lambda z: bars(z * [1, 0]), codes(), rng=np.random.default_rng(0), steps=2, images=64
    )
    assert result.active.tolist() == [True, False] and result.change[1] == 0
    assert result.features == ("code 0", "code 1") and result.n == 600


def test_features_may_have_several_columns() -> None:
    four = np.repeat(codes(), 2, axis=1)
    result = translation_difficulty(
        lambda z: bars(z[:, ::2]),
        four,
        features={"place": (0, 1), "ground": (2, 3)},
        rng=np.random.default_rng(0),
        steps=2,
        images=64,
    )
    assert result.per_feature.shape == (2,) and result.active.all()


def test_the_same_seed_gives_the_same_score() -> None:
    first, again = (
        translation_difficulty(bars, codes(), rng=np.random.default_rng(3), steps=3, images=64)
        for _ in range(2)
    )
    assert_close(first.score, again.score, rtol=0, atol=0)
    assert isinstance(first.score, float)


def test_an_exact_translation_misses_nothing() -> None:
    """Grey images that never change: the target's own entropy is no difficulty."""
    grey = np.full((1, 1, SIDE, SIDE), 0.5, np.float32)
    result = translation_difficulty(
        lambda z: np.repeat(grey, len(z), 0), codes(), rng=np.random.default_rng(0), steps=60, images=64
    )
    assert 0 <= result.score < 1  # of 256 pixels, whose entropy is 177 nats


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="one batch of 64 images and tested on another; got 100 codes"):
        translation_difficulty(bars, codes(100), rng=rng)
    with pytest.raises(ValueError, match="at least 2; got 1"):
        translation_difficulty(bars, codes()[:, :1], rng=rng)
    with pytest.raises(ValueError, match="one image between 0 and 1 for each code"):
        translation_difficulty(lambda z: 2 + bars(z), codes(), rng=rng)
    with pytest.raises(ValueError, match="steps, width and values must be at least 1"):
        translation_difficulty(bars, codes(), rng=rng, steps=0)
    with pytest.raises(ValueError, match="2"):
        translation_difficulty(bars, codes(), rng=rng, features={"a": (0,), "b": (2,)})
