"""Digits in ten hues, src/unbraid/data/hue_mnist.py."""

import colorsys

import torch
from torch.testing import assert_close

from unbraid.data.hue_mnist import HUES, hue_mnist
from unbraid.data.mnist import read_digits
from unbraid.data.sampling_distribution import apply_sampling


def test_every_digit_comes_in_every_hue_on_black() -> None:
    """A pixel is its gray times the hue's color, as HSV has it."""
    dataset = hue_mnist(digits="bundled")
    gray, labels = read_digits(digits="bundled")
    assert len(dataset) == 10 * len(gray) and dataset.name == "hue-mnist-bundled"
    pictures = dataset.observe(torch.arange(10, 20))  # the second digit
    factors = dataset.factors(torch.arange(10, 20))
    assert factors is not None and factors[:, 0].tolist() == [int(labels[1])] * 10
    colors = torch.tensor([colorsys.hsv_to_rgb(index / 10, 1, 1) for index in range(10)])
    expected = colors[:, :, None, None] * (gray[1].float() / 255)
    assert_close(pictures, expected, rtol=0, atol=0.5 / 255 + 1e-6)


def test_hue_and_digit_can_be_correlated_and_the_test_digits_are_others() -> None:
    dataset = apply_sampling(hue_mnist(digits="bundled"), correlate=("digit", "hue"), train_size=2000)
    values = dataset.factors(dataset.indices())
    assert values is not None and len(dataset) == 2000
    correlation = torch.corrcoef(values[:, [0, 3]].T.float())[0, 1]
    assert correlation > 0.7
    test = hue_mnist(digits="bundled", split="test")
    assert test.name == "hue-mnist-bundled-test" and len(test) == 10 * 359
    assert test.value_names["hue"] == HUES and test.instance == "image"
