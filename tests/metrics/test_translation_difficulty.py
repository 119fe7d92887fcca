"""The translation metric, src/unbraid/metrics/translation_difficulty.py."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.sprite_translations import rendered
from unbraid.metrics import translation_difficulty
from unbraid.metrics.translation_difficulty import TranslationDifficulty

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
    plain, turned = (
        translation_difficulty(generate, codes(), rng=np.random.default_rng(0))
        for generate in (bars, rotated)
    )
    assert plain.score < 0.7 * turned.score and plain.relative < 0.7 * turned.relative
    assert plain.active_features == turned.active_features == 2


def test_more_steps_miss_less() -> None:
    few, many = (
        translation_difficulty(bars, codes(), rng=np.random.default_rng(0), steps=steps, values=3).score
        for steps in (1, 60)
    )
    assert many < 0.5 * few


SPRITES = np.array([3, 6, 40, 32, 32])  # shape, scale, orientation, x, y


def sprites(z: np.ndarray) -> np.ndarray:
    """Images at 64×64 of five factors that lie on circles."""
    return rendered(torch.from_numpy((z[:, :5] % 1 * SPRITES).astype(np.int64))).numpy()


def mixed(z: np.ndarray) -> np.ndarray:
    """The same from codes that move scale and x-position together."""
    turned = z[:, :5].copy()
    turned[:, 1], turned[:, 3] = z[:, 1] + z[:, 3], z[:, 1] - z[:, 3]
    return sprites(turned)


def one_for_all(z: np.ndarray) -> np.ndarray:
    """The first code decides everything."""
    return sprites(np.random.default_rng(1).uniform(0, 1, (1000, 5))[(z[:, 0] * 1000).astype(int)])


def faint(z: np.ndarray) -> np.ndarray:
    """Gray, a ten-thousandth of what there is to see in it, as a decoder before training."""
    return 0.5 + 1e-4 * (sprites(z) - 0.5)


def test_models_of_sprites_come_in_order_and_one_that_decodes_nothing_last() -> None:
    """At 64×64 and the default settings; the sixth code is dead."""
    z = np.random.default_rng(0).uniform(0, 1, (400, 6))
    found = {
        generate.__name__: translation_difficulty(
            generate, z, rng=np.random.default_rng(0), variance=float(sprites(z).var(0).sum())
        )
        for generate in (sprites, mixed, one_for_all, faint)
    }
    assert found["sprites"].active.tolist() == found["mixed"].active.tolist() == [True] * 5 + [False]
    assert found["sprites"].score < 0.8 * found["mixed"].score
    assert found["sprites"].relative < 0.8 * found["mixed"].relative
    assert found["faint"].score < found["sprites"].score  # which is why models are not chosen by it
    assert found["one_for_all"].active_features == 1 and found["faint"].active_features == 0
    assert found["one_for_all"].relative == found["faint"].relative == 1 > 1.5 * found["mixed"].relative


def test_dead_features_are_named() -> None:
    result = translation_difficulty(
        lambda z: bars(z * [1, 0]), codes(), rng=np.random.default_rng(0), steps=2, values=3
    )
    assert result.active.tolist() == [True, False] and result.change[1] == 0
    assert result.features == ("dimension 0", "dimension 1") and result.n == 600
    assert_close(result.relative, float(result.relative_per_feature[0]))


def test_the_relative_difficulty_is_what_is_missed_of_what_the_mean_image_misses() -> None:
    """Targets that are 0.2 and 0.8 at random: the mean image is 0.5, whose divergence is log 2 less their entropy."""
    coin = np.random.default_rng(0).permutation(np.repeat([0.2, 0.8], 400))[:, None]
    z = np.c_[coin, np.zeros(800), np.random.default_rng(1).uniform(size=800)]

    def generate(z: np.ndarray) -> np.ndarray:
        return np.broadcast_to(z[:, 0, None, None, None], (len(z), 1, 4, 4)).astype(np.float32)

    features = {"nothing": (1,), "either": (2,)}
    result = translation_difficulty(generate, z, features=features, rng=np.random.default_rng(0), images=200)
    entropy = -(0.2 * np.log(0.2) + 0.8 * np.log(0.8))
    by_mean = 16 * (np.log(2) - entropy)
    assert_close(result.relative_per_feature, result.per_feature / by_mean, rtol=0.05, atol=0)


def test_features_may_have_several_columns() -> None:
    four = np.repeat(codes(), 2, axis=1)
    result = translation_difficulty(
        lambda z: bars(z[:, ::2]),
        four,
        features={"place": (0, 1), "ground": (2, 3)},
        rng=np.random.default_rng(0),
        steps=2,
    )
    assert result.per_feature.shape == (2,) and result.active.all()


def test_the_same_seed_gives_the_same_score() -> None:
    first, again = (
        translation_difficulty(bars, codes(), rng=np.random.default_rng(3), steps=3) for _ in range(2)
    )
    assert_close(first.score, again.score, rtol=0, atol=0)
    assert isinstance(first.score, float)


def test_images_of_any_decoder_and_rows_are_compared() -> None:
    """Those that leave 0 to 1 count as they are shown; rows, which may be anything, by a normal likelihood."""

    def score(generate: Callable[[np.ndarray], np.ndarray]) -> TranslationDifficulty:
        return translation_difficulty(generate, codes(), rng=np.random.default_rng(0), values=3)

    plain = score(bars)
    assert_close(score(lambda z: 3 * bars(z) - 1).score, score(lambda z: (3 * bars(z) - 1).clip(0, 1)).score)
    rows = score(lambda z: 5 * bars(z).reshape(len(z), -1) - 2)
    assert rows.score > 0 and rows.active.tolist() == plain.active.tolist()


def test_an_exact_translation_misses_nothing() -> None:
    """Gray images that never change: the target's own entropy is no difficulty."""
    gray = np.full((1, 1, SIDE, SIDE), 0.5, np.float32)
    result = translation_difficulty(
        lambda z: np.repeat(gray, len(z), 0), codes(), rng=np.random.default_rng(0), values=2
    )
    assert abs(result.score) < 1  # of 256 pixels, whose entropy is 177 nats
    assert result.relative == 1 and not result.active.any()


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(
        ValueError, match="from 64 images and tested on as many others, which takes a sample of 128; got 100"
    ):
        translation_difficulty(bars, codes(100), rng=rng)
    with pytest.raises(ValueError, match="at least 2; got 1"):
        translation_difficulty(bars, codes()[:, :1], rng=rng)
    with pytest.raises(ValueError, match="one observation per code; got 1 of 128"):
        translation_difficulty(lambda z: bars(z[:1]), codes(), rng=rng)
    with pytest.raises(ValueError, match="steps, width, values and images must be at least 1"):
        translation_difficulty(bars, codes(), rng=rng, steps=0)
    with pytest.raises(ValueError, match="2"):
        translation_difficulty(bars, codes(), rng=rng, features={"a": (0,), "b": (2,)})
