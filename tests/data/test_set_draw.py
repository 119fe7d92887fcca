"""Observations with their augmentations, src/unbraid/data/set_draw.py."""

import math
from unittest.mock import patch

import pytest
import torch
from torch import Generator, Tensor
from torch.testing import assert_close

from unbraid.data import Dataset, SetDraw, from_arrays, mixture, sprites
from unbraid.data.set_draw import _transform_mask
from unbraid.types import SetBatch

STEP = torch.tensor(0)


def generator(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


def spots() -> Dataset:
    """A bright square in the middle of each image, of its own gray."""
    images = torch.zeros(50, 16, 16)
    images[:, 5:11, 5:11] = torch.linspace(0.5, 1, 50)[:, None, None]
    return from_arrays(images, name="spots")


def draw(dataset: Dataset, size: int = 6, *, seed: int = 0, **settings: object) -> SetBatch:
    sets = SetDraw(**settings)  # type: ignore[arg-type]
    sets.check(dataset)
    return sets(dataset, size, generator(seed), STEP)


def test_a_set_begins_with_the_observation_itself() -> None:
    for dataset in (spots(), mixture()):
        rows = dataset.sample_indices(6, generator())
        batch = draw(dataset)
        assert_close(batch.x[:, 0], dataset.observe(rows))
    assert batch.labels is not None
    assert_close(batch.labels, dataset.combinations[rows])  # type: ignore[index]


def test_images_get_every_combination_of_the_transforms() -> None:
    assert draw(spots()).x.shape == (6, 8, 1, 16, 16)
    assert _transform_mask(("translate", "rotate", "scale"), 7, torch.device("cpu")).tolist() == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 1, 0],
        [1, 0, 1],
        [0, 1, 1],
        [1, 1, 1],
    ]
    assert draw(spots(), transforms=("scale",)).x.shape[1] == 2
    assert draw(spots(), transforms=("scale",), set_size=5).x.shape[1] == 5


def middle(images: Tensor) -> Tensor:
    """The center of gravity of each image, (n, 2), rows first, in parts of the side from the middle."""
    places = (torch.arange(16) + 0.5) / 16 - 0.5
    mass = images.sum((-3, -2, -1))
    return torch.stack([(images.sum((-3, -1)) @ places) / mass, (images.sum((-3, -2)) @ places) / mass], -1)


def test_translations_stay_within_their_range_and_reach_far() -> None:
    batch = draw(spots(), 50, transforms=("translate",), set_size=20)
    moved = middle(batch.x[:, 1:]).flatten(0, 1)
    assert moved.abs().max() <= 0.1 + 1e-3
    assert (moved.max(0).values > 0.09).all() and (moved.min(0).values < -0.09).all()


def test_scales_stay_within_their_range_and_reach_far() -> None:
    batch = draw(spots(), 50, transforms=("scale",), set_size=20)
    area = batch.x[:, 1:].sum((-3, -2, -1)) / batch.x[:, :1].sum((-3, -2, -1))
    assert area.min() > 0.8**2 - 0.02 and area.max() < 1.25**2 + 0.02
    assert area.min() < 0.7 and area.max() > 1.45


def test_rotations_stay_within_their_range() -> None:
    """A line from the center to the right edge: its far end rises by at most sin 5° of its length."""
    images = torch.zeros(40, 33, 33)
    images[:, 16, 16:] = 1
    batch = draw(from_arrays(images, name="lines"), 40, transforms=("rotate",), set_size=9, rotate=30.0)
    ends = batch.x[:, 1:, 0, :, 28].argmax(2)
    rise = (16 - ends) / 12
    assert rise.min() >= 0 and rise.max() <= math.tan(math.radians(30)) + 0.1 and rise.max() > 0.4


def test_latents_move_along_the_chosen_ones_alone() -> None:
    dataset = mixture(augmented_latents=(1,))
    batch = draw(dataset, 500)
    assert batch.x.shape == (500, 10, 10) and dataset.latents is not None
    rows = dataset.sample_indices(500, generator())
    recovered = dataset.latents.network.inverse(batch.x[:, 1:].flatten(0, 1))  # type: ignore[operator]
    moved = recovered.view(500, 9, 10) - dataset.latents.values[rows][:, None]
    assert moved[:, :, [0, *range(2, 10)]].abs().max() < 1e-3
    assert_close(moved[:, :, 1].std().item(), 1.0, rtol=0.05, atol=0)


def test_fixed_sets_are_equal_each_time_and_fresh_ones_differ() -> None:
    for dataset in (spots(), mixture()):
        rows = torch.tensor([3])
        once, redrawn = SetDraw(), SetDraw(fresh_each_step=True)
        first, second = (_of_row(once, dataset, rows, source) for source in (generator(0), generator(1)))
        assert_close(first, second, rtol=0, atol=0)
        first, second = (_of_row(redrawn, dataset, rows, source) for source in (generator(0), generator(1)))
        assert not torch.equal(first[:, 1:], second[:, 1:])


def _of_row(sets: SetDraw, dataset: Dataset, rows: Tensor, source: Generator) -> Tensor:
    """The set of given rows, whatever the dataset would draw."""
    with patch.object(dataset, "sample_indices", lambda size, generator: rows):
        return sets(dataset, len(rows), source, STEP).x


def test_fixed_noise_is_kept_by_each_member_of_a_set() -> None:
    for dataset in (spots(), mixture()):
        clean = _of_row(SetDraw(), dataset, torch.tensor([3, 8, 3]), generator())
        noisy = SetDraw(fixed_noise=0.01)
        first, second = (
            _of_row(noisy, dataset, torch.tensor([3, 8, 3]), generator(seed)) - clean for seed in (0, 1)
        )
        assert_close(first, second, rtol=0, atol=0)
        assert_close(first[0], first[2], rtol=0, atol=0)
        assert_close(first.std().item(), 0.01, rtol=0.15, atol=0)
        assert (first[0] - first[1]).abs().max() > 0.01  # rows differ, and so do members
        assert (first[0, 0] - first[0, 1]).abs().max() > 0.005


def test_trials_have_their_own_fixed_noise() -> None:
    first, second = (
        _of_row(SetDraw(fixed_noise=1.0), data, torch.tensor([3]), generator())
        - _of_row(SetDraw(), data, torch.tensor([3]), generator())
        for data in (mixture(), mixture(data_seed=1))
    )
    assert (first - second).abs().max() > 0.1


def test_rendered_images_have_sets_too() -> None:
    assert draw(sprites(image_size=16), 2, set_size=3).x.shape == (2, 3, 1, 16, 16)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(
        ValueError, match="at least 2 members, the original and one augmentation; got set_size=1"
    ):
        draw(spots(), set_size=1)
    with pytest.raises(ValueError, match="no transform 'rotation'; did you mean rotate"):
        draw(spots(), transforms=("rotation",))
    with pytest.raises(ValueError, match="at least one transform, each once"):
        draw(spots(), transforms=())
    with pytest.raises(ValueError, match=r"scale at least 1; got 0\.1, 5\.0 and 0\.5"):
        draw(spots(), scale=0.5)
    with pytest.raises(ValueError, match=r"fixed sets; got fixed_noise=0\.1 with --fresh-each-step"):
        draw(spots(), fixed_noise=0.1, fresh_each_step=True)
    with pytest.raises(ValueError, match="fixed_noise"):
        draw(spots(), fixed_noise=-0.1)
    with pytest.raises(
        ValueError, match="the rows of table have no known latents: use images, or the dataset mixture"
    ):
        draw(from_arrays(torch.rand(5, 4), name="table"))
