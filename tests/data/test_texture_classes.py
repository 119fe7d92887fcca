"""Ten classes of textures, src/unbraid/data/texture_classes.py."""

import torch
from torch import Generator
from torch.testing import assert_close

from unbraid.data.texture_classes import BRIGHTEST, PATTERNS, textures


def test_classes_alternate_and_images_follow_the_generator() -> None:
    images, labels = textures(3, Generator().manual_seed(0), size=32)
    assert images.shape == (30, 3, 32, 32) and images.dtype == torch.uint8
    assert labels.tolist() == [*range(10)] * 3 and len(PATTERNS) == 10
    again, _ = textures(3, Generator().manual_seed(0), size=32)
    other, _ = textures(3, Generator().manual_seed(1), size=32)
    assert_close(images, again) and (images != other).any()


def test_textures_are_darker_than_digits_and_never_plain() -> None:
    images, _ = textures(8, Generator().manual_seed(0))
    assert int(images.max()) <= round(BRIGHTEST * 255)
    spread = images.float().mean(1).flatten(1).std(1)
    assert float(spread.min()) > 3


def test_images_of_a_class_differ_in_color() -> None:
    images, labels = textures(20, Generator().manual_seed(0), size=32)
    for label in range(10):
        tints = images[labels == label].float().mean((2, 3))
        assert float(tints.std(0).min()) > 8
