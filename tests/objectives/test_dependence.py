"""Dependence between parts over the batch, src/unbraid/objectives/dependence.py."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from unbraid.objectives.dependence import correlation, dependence


def unit(rows: int, size: int = 3) -> Tensor:
    return F.normalize(torch.randn(rows, size, dtype=torch.float64), dim=1)


def turn(size: int) -> Tensor:
    return torch.linalg.qr(torch.randn(size, size, dtype=torch.float64))[0]


def test_a_part_and_its_rotation_depend_on_each_other_fully() -> None:
    z0 = unit(40)
    assert_close(dependence(torch.stack([z0, z0 @ turn(3)], 1)).item(), 1.0)


def test_every_combination_once_is_independent() -> None:
    """4 values of one part with 5 of the other, each pair once: both measures are exactly 0."""
    z0, z1 = unit(4).repeat_interleave(5, 0), unit(5).repeat(4, 1)
    z = torch.stack([z0, z1], 1)
    assert_close(dependence(z).item(), 0.0)
    assert_close(correlation(z).item(), 0.0)


def test_dependence_without_correlation_is_seen_by_kernels_alone() -> None:
    """One angle and twice that angle: no correlation, and yet the first tells the second."""
    angle = 2 * math.pi * torch.arange(60, dtype=torch.float64) / 60
    z = torch.stack([torch.stack([t.cos(), t.sin()], 1) for t in (angle, 2 * angle)], 1)
    assert_close(correlation(z).item(), 0.0)
    assert dependence(z, width=0.5) > 0.2


def test_dependence_by_a_slow_rewriting() -> None:
    z, width = torch.stack([unit(6), unit(6), unit(6)], 1), 0.6
    center = torch.eye(6, dtype=torch.float64) - 1 / 6
    kernels = []
    for part in z.unbind(1):
        kernel = torch.exp(-torch.cdist(part, part).square() / (2 * width**2))
        kernels.append(center @ kernel @ center)
    expected = sum(
        (a * b).sum() / (a.norm() * b.norm()) for index, a in enumerate(kernels) for b in kernels[:index]
    )
    assert_close(dependence(z, width=width), expected)


def test_correlation_by_hand() -> None:
    """z0 = (a, b) and z1 = (a, a) with a and b without correlation: two of four squares are 1, over two dimensions."""
    a, b = torch.tensor([[1.0, 1, -1, -1], [1.0, -1, 1, -1]], dtype=torch.float64)
    z = torch.stack([torch.stack([a, b], 1), torch.stack([a, 3 * a + 2], 1)], 1)
    assert_close(correlation(z).item(), 1.0)
    three = torch.cat([z, z[:, :1]], 1)  # 0 with 1, 1 with 2 as before, and 0 with itself: two squares of 1
    assert_close(correlation(three).item(), 3.0)


def test_correlation_does_not_change_with_scale_or_place() -> None:
    z = torch.randn(30, 2, 3, dtype=torch.float64)
    moved = z * torch.rand(2, 3, dtype=torch.float64) + torch.randn(2, 3, dtype=torch.float64)
    assert_close(correlation(moved), correlation(z))


@pytest.mark.parametrize("measure", [dependence, correlation])
def test_a_part_that_never_moves_gives_0_and_a_finite_gradient(measure: object) -> None:
    still = torch.ones(8, 3, dtype=torch.float64) / math.sqrt(3)
    z = torch.stack([unit(8), still], 1).requires_grad_()
    value = measure(z)  # type: ignore[operator]
    assert_close(value.item(), 0.0)
    assert torch.autograd.grad(value, z)[0].isfinite().all()
