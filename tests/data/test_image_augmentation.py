"""Random crops, flips and colors in batches, src/unbraid/data/image_augmentation.py."""

import colorsys

import pytest
import torch
from torch import Generator, Tensor
from torch.testing import assert_close

from unbraid.data import image_augmentation as module
from unbraid.data.image_augmentation import color_jitter, crop_and_flip, crop_flip_color


def generator(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


def ramp(size: int = 16, count: int = 200) -> Tensor:
    """Images whose pixels hold their place: red from left to right, green from top to bottom."""
    position = (torch.arange(size, dtype=torch.float64) + 0.5) / size
    red, green = position.expand(size, size), position[:, None].expand(size, size)
    return torch.stack([red, green, torch.zeros(size, size)]).expand(count, -1, -1, -1)


def test_no_augmentation_leaves_images_unchanged() -> None:
    x = ramp()
    assert crop_flip_color(x, generator(), crop=1.0, flip=0.0, color=0.0) is x


def test_a_flip_mirrors_left_for_right_with_its_probability() -> None:
    x = ramp()
    flipped = crop_and_flip(x, generator(), 1.0, 0.25)
    mirrored = (flipped[:, 0, 0, 0] > 0.5).nonzero()[:, 0]
    assert 0.15 < len(mirrored) / len(x) < 0.35
    assert_close(flipped[mirrored], x.flip(3)[mirrored])
    kept = [row for row in range(len(x)) if row not in mirrored.tolist()]
    assert_close(flipped[kept], x[kept])


def test_a_crop_keeps_its_fraction_of_the_area_within_the_image() -> None:
    """On a ramp the span between the middles of the outer pixels is 15/16 of the side of the crop."""
    cropped = crop_and_flip(ramp(), generator(), 0.25, 0.0)
    for channel, dimension in ((0, 2), (1, 1)):
        plane = cropped[:, channel]
        low, high = plane.select(dimension, 0)[:, 4], plane.select(dimension, -1)[:, 4]
        side = (high - low) * 16 / 15
        assert side.square().min() > 0.25 - 1e-9 and side.max() < 1 + 1e-9
        assert 0.55 < side.square().mean() < 0.7  # uniform from 0.25 to 1
        assert (low - side / 32).min() > -1e-9 and (high + side / 32).max() < 1 + 1e-9


def test_brightness_and_contrast_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gray pixels 0.2 and 0.4 with contrast 1.4 about 0.3 and brightness 0.9: 0.144 and 0.396."""
    numbers = torch.tensor(
        [[0.375, 0.75, 0.5, 0.5]], dtype=torch.float64
    )  # 1 + 0.4 (2u - 1): 0.9, 1.2, 1, no turn
    monkeypatch.setattr(module.torch, "rand", lambda *shape, **_: numbers)
    x = torch.tensor([0.2, 0.4], dtype=torch.float64).view(1, 1, 1, 2)
    expected = (0.3 + 1.2 * (x - 0.3)) * 0.9
    assert_close(color_jitter(x, generator(), 0.5), expected)
    assert_close(
        color_jitter(x.expand(1, 3, 1, 2), generator(), 0.5), expected.expand(1, 3, 1, 2), atol=1e-4, rtol=0
    )


def test_saturation_0_leaves_gray_and_a_turn_of_hue_keeps_brightness() -> None:
    x = 0.3 + 0.4 * torch.rand(1, 3, 4, 4, dtype=torch.float64)
    gray = torch.einsum("c,bchw->bhw", torch.tensor(module.GRAY, dtype=torch.float64), x)
    one, none = torch.ones(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    paled = torch.einsum("bij,bjhw->bihw", module._hue_saturation_matrix(none, none), x)
    assert_close(paled, gray[:, None].expand_as(paled), atol=1e-3, rtol=0)
    turned = torch.einsum("bij,bjhw->bihw", module._hue_saturation_matrix(one, 0.1 * one), x)
    assert_close(
        torch.einsum("c,bchw->bhw", torch.tensor(module.GRAY).double(), turned), gray, atol=1e-3, rtol=0
    )
    red = torch.tensor([0.8, 0.2, 0.2], dtype=torch.float64)
    hue = colorsys.rgb_to_hsv(*(module._hue_saturation_matrix(one, -one / 6)[0] @ red).clamp(0, 1).tolist())[
        0
    ]
    assert min(abs(hue - 1 / 6), abs(hue - 5 / 6)) < 0.06  # a sixth of a turn away from red


def test_outputs_are_in_range_and_follow_the_generator() -> None:
    x = torch.rand(8, 3, 12, 12)
    outs = [crop_flip_color(x, generator(seed), crop=0.3, flip=0.5, color=1.0) for seed in (0, 0, 1)]
    assert outs[0].min() >= 0 and outs[0].max() <= 1 and outs[0].shape == x.shape
    assert_close(outs[0], outs[1], rtol=0, atol=0)
    assert (outs[0] != outs[2]).any()
    assert crop_flip_color(x[:, :1], generator(), crop=0.5, flip=0.5, color=1.0).shape == (
        8,
        1,
        12,
        12,
    )
