"""Coordinates along directions, src/unbraid/nn/linear_projection.py."""

import pytest
import torch
from torch.testing import assert_close

from unbraid.nn import LinearProjection


def test_there_and_back() -> None:
    projection = LinearProjection((1, 2, 2), 2)
    directions = torch.linalg.qr(torch.randn(4, 2))[0]
    projection.directions.copy_(directions)
    projection.center.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    codes = torch.randn(5, 2)
    x = projection.inverse(codes)
    assert x.shape == (5, 1, 2, 2)
    assert_close(x.flatten(1), codes @ directions.T + projection.center)
    assert_close(projection(x), codes)


def test_it_keeps_its_digits_under_autocast_and_has_nothing_to_train() -> None:
    projection, x = LinearProjection((9,), 3), torch.randn(4, 9)
    with torch.autocast("cpu", torch.bfloat16):
        assert_close(projection(x), x[:, :3])
    assert not list(projection.parameters())


def test_sizes_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must be from 1 to 4, .*got 5"):
        LinearProjection((4,), 5)
    with pytest.raises(ValueError, match=r"observations of shape \(4,\); got \(5,\)"):
        LinearProjection((4,), 2)(torch.zeros(2, 5))
