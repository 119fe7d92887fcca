"""PNG images for notebooks, src/unbraid/display/images.py."""

import io

import numpy as np
import torch
from PIL import Image

from unbraid.display.images import COLUMNS, SIDE, png


def opened(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)))


def test_small_images_keep_their_pixels() -> None:
    image = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]])
    assert opened(png(image[None]))[:2, :2, 0].tolist() == [[0, 255], [255, 0]]


def test_large_images_are_reduced_to_means() -> None:
    image = torch.zeros(1, 2 * SIDE, 2 * SIDE)
    image[0, ::2] = 1.0  # stripes of one pixel
    pixels = opened(png(image[None]))
    assert pixels.shape == (SIDE, COLUMNS * (SIDE + 2) - 2, 3)
    assert set(pixels[:, :SIDE].ravel().tolist()) == {128}


def test_rows_are_stacked_and_unusual_channels_show_the_first() -> None:
    colors, many = torch.zeros(2, 3, 4, 4), torch.zeros(2, 5, 4, 4)
    colors[0, 2], many[1, 0] = 1.0, 1.0
    pixels = opened(png(colors, many))
    assert pixels.shape[0] == 10
    assert pixels[0, 0].tolist() == [0, 0, 255] and pixels[6, 6].tolist() == [255, 255, 255]
