"""Correlated training sets and held-out tests, src/unbraid/data/sampling_distribution.py."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch.testing import assert_close

from unbraid.data import Dataset, FactorSpace, apply_sampling, open_dataset
from unbraid.data.registry import add_sampling_options
from unbraid.data.sampling_distribution import SAMPLING_OPTIONS
from unbraid.data.sprites import sprites
from unbraid.options import options_of

SPACE = FactorSpace({"a": 4, "b": 3, "c": 5})


def grid() -> Dataset:
    """A picture for each combination, of one pixel that is its number."""
    images = torch.arange(60, dtype=torch.uint8)[:, None, None, None]
    return Dataset(images, name="grid", max_value=1, factor_space=SPACE)


def joint(dataset: Dataset, rows: torch.Tensor) -> np.ndarray:
    values = dataset.factors(rows)
    assert values is not None
    return np.histogramdd(values[:, :2].numpy(), bins=[np.arange(5) - 0.5, np.arange(4) - 0.5])[0]


@pytest.mark.parametrize("resample", [0, 20_000])
def test_correlated_draws_follow_their_joint_distribution(resample: int) -> None:
    """The ridge by hand: v from 0 to 1 in thirds and halves, weight exp(-(v1 - v2)² / (2 · 0.3²))."""
    dataset = apply_sampling(grid(), correlate=("a", "b"), correlation_sigma=0.3, train_size=resample)
    rows = dataset.indices() if resample else dataset.sample_indices(20_000, torch.Generator().manual_seed(1))
    gap = np.arange(4)[:, None] / 3 - np.arange(3)[None] / 2
    weight = np.exp(-(gap**2) / (2 * 0.3**2))
    found = joint(dataset, rows)
    assert chisquare(found.ravel(), (20_000 * weight / weight.sum()).ravel()).pvalue > 0.001
    assert chisquare(found.ravel()).pvalue < 1e-6  # and not the uniform one


def test_without_a_correlation_all_are_equally_likely() -> None:
    dataset = apply_sampling(grid(), train_size=20_000)
    assert dataset.name == "grid" and len(dataset) == 20_000
    assert chisquare(joint(dataset, dataset.indices()).ravel()).pvalue > 0.001


def test_what_is_held_out_never_trains_and_does_not_depend_on_the_correlation() -> None:
    test = apply_sampling(grid(), holdout_size=12, use_holdout=True)
    same = apply_sampling(grid(), holdout_size=12, use_holdout=True, correlate=("a", "b"), train_size=100)
    train = apply_sampling(grid(), holdout_size=12, correlate=("a", "c"), train_size=500)
    assert len(test) == 12 and test.name == "grid-test" and train.name == "grid-a-c"
    held, trained = (set(part.observe(part.indices()).flatten().tolist()) for part in (test, train))
    assert held == set(same.observe(same.indices()).flatten().tolist())
    assert not held & trained and len(held) == 12


def test_a_fixed_training_set_is_the_same_each_time_and_another_for_another_seed() -> None:
    first, again, other = (apply_sampling(grid(), train_size=50, split_seed=seed) for seed in (0, 0, 1))
    assert_close(first.combinations, again.combinations)
    assert not torch.equal(first.combinations, other.combinations)  # type: ignore[arg-type]
    assert first.observe(torch.arange(50)).flatten().long().tolist() == first.combinations.tolist()  # type: ignore[union-attr]


def test_rendered_and_factorless_datasets_too() -> None:
    drawn = apply_sampling(
        sprites(image_size=32), correlate=("pos_x", "scale"), train_size=30, holdout_size=1000
    )
    assert drawn.observe(drawn.indices()).shape == (30, 1, 32, 32)
    plain = Dataset(torch.zeros(20, 1, 2, 2, dtype=torch.uint8), name="plain")
    assert len(apply_sampling(plain, holdout_size=5)) == 15 and len(apply_sampling(plain, train_size=7)) == 7
    with pytest.raises(ValueError, match="plain has no known factors"):
        apply_sampling(plain, correlate=("a", "b"))


def test_every_dataset_takes_the_sampling_options() -> None:
    options = options_of(add_sampling_options(sprites))
    assert list(options) == ["image_size", "antialias", *SAMPLING_OPTIONS] and all(
        option.help for option in options.values()
    )
    dataset = open_dataset(
        "sprites", image_size=32, correlate=("pos_x", "scale"), correlation_sigma=0.1, train_size=40
    )
    assert dataset.name == "sprites-pos_x-scale" and len(dataset) == 40
    again = open_dataset(dataset.origin["name"], **dataset.origin["options"])  # type: ignore[index]
    assert again.description()["fingerprint"] == dataset.description()["fingerprint"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"correlate": ("a",)}, "correlate takes two different factors, such as pos_x,scale; got a"),
        ({"correlate": ("a", "a")}, "two different factors"),
        ({"correlate": ("a", "z")}, "no factor 'z'; the factors are a, b, c"),
        (
            {"correlate": ("a", "b"), "correlation_sigma": 0.0},
            "width σ of a correlation must be finite and above 0; got 0.0",
        ),
        ({"correlate": ("a", "b"), "correlation_sigma": math.inf}, "must be finite and above 0; got inf"),
        ({"holdout_size": 60}, "at most 59 can be held out; got holdout_size=60"),
        ({"holdout_size": -1}, "must be at least 0; got 0 and -1"),
        ({"use_holdout": True}, "--use-holdout requires --holdout-size"),
    ],
)
def test_mistakes_get_one_sentence(options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        apply_sampling(grid(), **options)


def test_whole_instances_are_held_out() -> None:
    """Six of them in ten shades each: 13 observations are one and a bit of them, 4 not half of one."""
    space = FactorSpace({"thing": 6, "shade": 10})
    data = Dataset(
        torch.zeros(60, 1, 1, 1, dtype=torch.uint8), name="six", factor_space=space, instance="thing"
    )
    assert data.num_instances == 6 and grid().num_instances == len(grid())
    assert len(apply_sampling(data, holdout_size=13, use_holdout=True)) == 10
    for size, instances in ((4, 0), (57, 6)):
        with pytest.raises(
            ValueError,
            match=f"six has 60 observations of 6 instances, .* 1 to 5 of them; .* would be {instances}",
        ):
            apply_sampling(data, holdout_size=size)


def test_a_joint_distribution_without_mass_is_refused() -> None:
    """A ridge so narrow that none of the combinations that occur has a weight above 0."""
    apart = grid().with_factor_distribution(lambda space: space.only(a=[0]).only(b=[2]))
    with pytest.raises(ValueError, match=r"close enough for the width σ = 0\.01: give a larger σ"):
        apply_sampling(apart, correlate=("a", "b"), correlation_sigma=0.01)
