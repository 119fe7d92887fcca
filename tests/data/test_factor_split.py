"""Splitting the values of a factor, src/unbraid/data/factor_split.py."""

import pytest

from unbraid.data.factor_split import split_factor_values, split_name
from unbraid.data.factors import FactorSpace

SPACE = FactorSpace({"hue": 6, "shape": 3})


def hues(part: str, seed: int) -> set[int]:
    return set(split_factor_values(SPACE, "hue", part, seed).observed_values[0].tolist())


def test_the_halves_share_no_value_and_leave_none_out() -> None:
    train, test = hues("train", 0), hues("test", 0)
    assert len(train) == len(test) == 3
    assert train | test == set(range(6))
    assert split_factor_values(SPACE, "hue", "all", 0) is SPACE
    assert split_factor_values(SPACE, "hue", "train", 0).is_product


def test_the_seed_chooses_the_halves() -> None:
    assert hues("train", 3) == hues("train", 3)
    assert len({frozenset(hues("train", seed)) for seed in range(8)}) > 1


def test_names_and_mistakes() -> None:
    assert (split_name("rooms", "all"), split_name("rooms", "test")) == ("rooms", "rooms-test")
    with pytest.raises(ValueError, match="splits are all, train, test; got split='half'"):
        split_factor_values(SPACE, "hue", "half", 0)
