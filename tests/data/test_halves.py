"""Halves of a factor's values, src/unbraid/data/halves.py."""

import pytest

from unbraid.data.factors import FactorSpace
from unbraid.data.halves import half, named

SPACE = FactorSpace({"hue": 6, "shape": 3})


def hues(part: str, seed: int) -> set[int]:
    return set(half(SPACE, "hue", part, seed).occurring[0].tolist())


def test_the_halves_share_no_value_and_leave_none_out() -> None:
    train, test = hues("train", 0), hues("test", 0)
    assert len(train) == len(test) == 3
    assert train | test == set(range(6))
    assert half(SPACE, "hue", "all", 0) is SPACE
    assert half(SPACE, "hue", "train", 0).product


def test_the_seed_says_which_half_is_which() -> None:
    assert hues("train", 3) == hues("train", 3)
    assert len({frozenset(hues("train", seed)) for seed in range(8)}) > 1


def test_names_and_mistakes() -> None:
    assert (named("rooms", "all"), named("rooms", "test")) == ("rooms", "rooms-test")
    with pytest.raises(ValueError, match="parts are all, train, test; got part='half'"):
        half(SPACE, "hue", "half", 0)
