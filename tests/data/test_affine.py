"""Affine transformations of images, src/unbraid/data/affine.py."""

import math

import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.data.affine import affine

NOTHING = {"right": 0.0, "down": 0.0, "angle": 0.0, "scale": 1.0}


def changed(x: Tensor, **changes: float) -> Tensor:
    return affine(x, **{name: torch.full((len(x),), value) for name, value in (NOTHING | changes).items()})


def images() -> Tensor:
    return torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def test_nothing_changes_nothing() -> None:
    assert_close(changed(images()), images())


def test_integer_translations_move_pixels_and_fill_with_black() -> None:
    moved = changed(images(), right=2 / 8, down=-1 / 8)
    assert_close(moved[:, :, :7, 2:], images()[:, :, 1:, :6])
    assert not moved[:, :, 7].any() and not moved[:, :, :, :2].any()


def test_a_quarter_turn_is_counterclockwise() -> None:
    assert_close(changed(images(), angle=math.pi / 2), images().rot90(1, (2, 3)), rtol=0, atol=1e-5)


def test_a_point_on_a_wide_image_rotates_on_a_circle() -> None:
    """Three pixels to the right of the center become three pixels above it."""
    x = torch.zeros(1, 1, 9, 15)
    x[0, 0, 4, 10] = 1
    assert changed(x, angle=math.pi / 2)[0, 0].argmax() == (4 - 3) * 15 + 7


def test_twice_as_large_shows_the_middle() -> None:
    x = torch.zeros(1, 1, 16, 16)
    x[:, :, 6:10, 6:10] = 1
    assert_close(changed(x, scale=2.0).sum().item(), 64.0, rtol=0.1, atol=0)
    assert_close(changed(x, scale=0.5).sum().item(), 4.0, rtol=0.1, atol=0)


def test_each_image_has_its_own() -> None:
    x = images()
    moved = affine(
        x,
        right=torch.tensor([0.0, 1 / 8, 0.0]),
        down=torch.zeros(3),
        angle=torch.zeros(3),
        scale=torch.ones(3),
    )
    assert_close(moved[0], x[0])
    assert_close(moved[1, :, :, 1:], x[1, :, :, :-1])
