"""Images without their colors' level, src/unbraid/nn/standardize.py."""

import torch
from torch.testing import assert_close

from unbraid.nn.standardize import Standardize


def test_two_colors_leave_the_drawing_and_which_one_is_lighter() -> None:
    """g has mean 1/4 and variance 3/16; a channel from 0.2 to 1 has variance 0.12, so 0.6 / sqrt(0.121)."""
    g = torch.tensor([[0.0, 0.0], [1.0, 0.0]])
    x = torch.stack([0.2 + 0.8 * g, 1 - 0.8 * g, torch.full((2, 2), 0.7)])[None]
    first, second, constant = Standardize()(x)[0]
    assert_close(first[1, 0].item(), 0.6 / 0.121**0.5)
    assert_close(second, -first)
    assert_close(constant, torch.zeros(2, 2))


def test_images_do_not_mix() -> None:
    x = torch.rand(3, 2, 4, 4)
    assert_close(Standardize()(x)[1:2], Standardize()(x[1:2]))
