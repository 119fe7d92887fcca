"""Correlated training sets and held-out tests, src/unbraid/data/law.py."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch.testing import assert_close

from unbraid.data import Dataset, FactorSpace, open_dataset, under_law
from unbraid.data.law import LAW, with_law
from unbraid.data.sprites import sprites
from unbraid.options import options_of

SPACE = FactorSpace({"a": 4, "b": 3, "c": 5})


def grid() -> Dataset:
    """A picture for each combination, of one pixel that is its number."""
    images = torch.arange(60, dtype=torch.uint8)[:, None, None, None]
    return Dataset(images, name="grid", white=1, space=SPACE)


def joint(dataset: Dataset, rows: torch.Tensor) -> np.ndarray:
    values = dataset.factors(rows)
    assert values is not None
    return np.histogramdd(values[:, :2].numpy(), bins=[np.arange(5) - 0.5, np.arange(4) - 0.5])[0]


@pytest.mark.parametrize("resample", [0, 20_000])
def test_correlated_draws_follow_their_joint_distribution(resample: int) -> None:
    """The ridge by hand: v from 0 to 1 in thirds and halves, weight exp(-(v1 - v2)² / (2 · 0.3²))."""
    dataset = under_law(grid(), correlate=("a", "b"), sigma=0.3, resample=resample)
    rows = dataset.rows() if resample else dataset.draw(20_000, torch.Generator().manual_seed(1))
    gap = np.arange(4)[:, None] / 3 - np.arange(3)[None] / 2
    weight = np.exp(-(gap**2) / (2 * 0.3**2))
    found = joint(dataset, rows)
    assert chisquare(found.ravel(), (20_000 * weight / weight.sum()).ravel()).pvalue > 0.001
    assert chisquare(found.ravel()).pvalue < 1e-6  # and not the uniform one


def test_without_a_correlation_all_are_equally_likely() -> None:
    dataset = under_law(grid(), resample=20_000)
    assert dataset.name == "grid" and len(dataset) == 20_000
    assert chisquare(joint(dataset, dataset.rows()).ravel()).pvalue > 0.001


def test_what_is_held_out_never_trains_and_does_not_depend_on_the_correlation() -> None:
    test = under_law(grid(), hold_out=12, split="test")
    same = under_law(grid(), hold_out=12, split="test", correlate=("a", "b"), resample=100)
    train = under_law(grid(), hold_out=12, correlate=("a", "c"), resample=500)
    assert len(test) == 12 and test.name == "grid-test" and train.name == "grid-a-c"
    held, trained = (set(part.observe(part.rows()).flatten().tolist()) for part in (test, train))
    assert held == set(same.observe(same.rows()).flatten().tolist())
    assert not held & trained and len(held) == 12


def test_a_fixed_training_set_is_the_same_each_time_and_another_for_another_seed() -> None:
    first, again, other = (under_law(grid(), resample=50, law_seed=seed) for seed in (0, 0, 1))
    assert_close(first.combinations, again.combinations)
    assert not torch.equal(first.combinations, other.combinations)  # type: ignore[arg-type]
    assert first.observe(torch.arange(50)).flatten().long().tolist() == first.combinations.tolist()  # type: ignore[union-attr]


def test_rendered_and_factorless_datasets_too() -> None:
    drawn = under_law(sprites(size=32), correlate=("pos_x", "scale"), resample=30, hold_out=1000)
    assert drawn.observe(drawn.rows()).shape == (30, 1, 32, 32)
    plain = Dataset(torch.zeros(20, 1, 2, 2, dtype=torch.uint8), name="plain")
    assert len(under_law(plain, hold_out=5)) == 15 and len(under_law(plain, resample=7)) == 7
    with pytest.raises(ValueError, match="plain has no known factors"):
        under_law(plain, correlate=("a", "b"))


def test_every_dataset_takes_the_law_as_options() -> None:
    options = options_of(with_law(sprites))
    assert list(options) == ["size", "antialias", *LAW] and all(option.help for option in options.values())
    dataset = open_dataset("sprites", size=32, correlate=("pos_x", "scale"), sigma=0.1, resample=40)
    assert dataset.name == "sprites-pos_x-scale" and len(dataset) == 40
    again = open_dataset(dataset.origin["name"], **dataset.origin["options"])  # type: ignore[index]
    assert again.description()["fingerprint"] == dataset.description()["fingerprint"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"correlate": ("a",)}, "Two different factors can be correlated, such as pos_x,scale; got a"),
        ({"correlate": ("a", "a")}, "Two different factors"),
        ({"correlate": ("a", "z")}, "no factor 'z'; the factors are a, b, c"),
        (
            {"correlate": ("a", "b"), "sigma": 0.0},
            "width σ of a correlation must be a number above 0, and finite; got 0.0",
        ),
        ({"correlate": ("a", "b"), "sigma": math.inf}, "a number above 0, and finite; got inf"),
        ({"hold_out": 60}, "at most 59 can be held out; got hold_out=60"),
        ({"hold_out": -1}, "count observations, from 0 on"),
        ({"split": "test"}, "Nothing is held out to test: give hold_out"),
    ],
)
def test_mistakes_get_one_sentence(options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        under_law(grid(), **options)


def test_whole_things_are_held_out() -> None:
    """Six of them in ten shades each: 13 observations are one and a bit of them, 4 not half of one."""
    space = FactorSpace({"thing": 6, "shade": 10})
    data = Dataset(torch.zeros(60, 1, 1, 1, dtype=torch.uint8), name="six", space=space, instance="thing")
    assert data.things == 6 and grid().things == len(grid())
    assert len(under_law(data, hold_out=13, split="test")) == 10
    for hold_out, things in ((4, 0), (57, 6)):
        with pytest.raises(
            ValueError, match=f"six shows 6 things in 60 .* 1 to 5 of them; .* would be {things}"
        ):
            under_law(data, hold_out=hold_out)


def test_a_joint_distribution_without_mass_is_refused() -> None:
    """A ridge so narrow that none of the combinations that occur has a weight above 0."""
    apart = grid().under(lambda space: space.only(a=[0]).only(b=[2]))
    with pytest.raises(ValueError, match=r"near enough for a ridge of width 0\.01: give a larger sigma"):
        under_law(apart, correlate=("a", "b"), sigma=0.01)
