"""Coordinates along directions, src/unbraid/nn/directions.py."""

import pytest
import torch
from torch.testing import assert_close

from unbraid.nn import Directions


def test_there_and_back() -> None:
    projection = Directions((1, 2, 2), 2)
    directions = torch.linalg.qr(torch.randn(4, 2))[0]
    projection.directions.copy_(directions)
    projection.centre.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    codes = torch.randn(5, 2)
    x = projection.back(codes)
    assert x.shape == (5, 1, 2, 2)
    assert_close(x.flatten(1), codes @ directions.T + projection.centre)
    assert_close(projection(x), codes)


def test_it_keeps_its_digits_under_autocast_and_has_nothing_to_train() -> None:
    projection, x = Directions((9,), 3), torch.randn(4, 9)
    with torch.autocast("cpu", torch.bfloat16):
        assert_close(projection(x), x[:, :3])
    assert not list(projection.parameters())


def test_sizes_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="have 1 to 4 directions; got 5"):
        Directions((4,), 5)
    with pytest.raises(ValueError, match=r"observations \(4,\); got \(5,\)"):
        Directions((4,), 2)(torch.zeros(2, 5))
