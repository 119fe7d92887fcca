"""Discrepancies by hand and by slow rewritings, src/unbraid/objectives/mmd.py."""

import math

import pytest
import torch
from torch.testing import assert_close

from unbraid.objectives.mmd import fast_group_mmd, fast_mmd, gaussian_kernel, mmd


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)[:, None]


def test_the_kernel_is_a_sum_over_widths_by_hand() -> None:
    """Distance 2: exp(-4/2) for a width of 1, exp(-4/8) for a width of 2."""
    found = gaussian_kernel(column(0.0), column(2.0), (1.0, 2.0))
    assert_close(found.item(), math.exp(-2) + math.exp(-0.5))


def test_of_two_points_by_hand() -> None:
    """Each sample agrees with itself: 1 + 1 - 2 exp(-½)."""
    assert_close(mmd(column(0.0), column(1.0), (1.0,)).item(), 2 - 2 * math.exp(-0.5))


def test_biased_and_unbiased_by_hand() -> None:
    """x = {0, 1}, y = {3, 3}. Within x: biased ½ + ½ e^-½, unbiased e^-½; within y 1; between ½ (e^-4.5 + e^-2)."""
    x, y, near = column(0.0, 1.0), column(3.0, 3.0), math.exp(-0.5)
    between = math.exp(-4.5) + math.exp(-2)
    assert_close(mmd(x, y, (1.0,)).item(), 0.5 + 0.5 * near + 1 - between)
    assert_close(mmd(x, y, (1.0,), unbiased=True).item(), near + 1 - between)


def test_a_sample_agrees_with_itself() -> None:
    x = torch.randn(10, 3, dtype=torch.float64)
    assert_close(mmd(x, x, (0.5, 2.0)).item(), 0.0, atol=1e-12, rtol=0.0)
    assert_close(fast_mmd(x, x, width=1.0).item(), 0.0)


def test_the_unbiased_one_is_zero_on_average_and_the_other_is_not() -> None:
    """Of two samples of n from one law the biased one has 2 (1 - E k) / n too much."""
    torch.manual_seed(0)
    draws = [(torch.randn(8, 2), torch.randn(8, 2)) for _ in range(400)]
    unbiased = torch.stack([mmd(x, y, (1.0,), unbiased=True) for x, y in draws])
    biased = torch.stack([mmd(x, y, (1.0,)) for x, y in draws])
    spread = float(unbiased.std() / 20)
    assert abs(float(unbiased.mean())) < 4 * spread
    excess = 2 * (1 - 1 / 3) / 8  # E k of two points 2N apart in the plane: 1 / (1 + 2)
    assert_close(float(biased.mean()), excess, atol=4 * spread, rtol=0.0)


def test_the_unbiased_one_needs_two_rows() -> None:
    with pytest.raises(ValueError, match="at least 2 rows in each sample; got 1"):
        mmd(column(0.0), column(1.0, 2.0), (1.0,), unbiased=True)


def test_random_features_come_close_to_the_kernel() -> None:
    torch.manual_seed(0)
    x, y = torch.randn(50, 3, dtype=torch.float64), 1 + torch.randn(40, 3, dtype=torch.float64)
    exact = mmd(x, y, (1.7,)).item()
    assert_close(fast_mmd(x, y, width=1.7, count=100_000).item(), exact, rtol=0.03, atol=0.0)


def test_two_groups_are_compared_with_each_other() -> None:
    z, groups = torch.randn(9, 2, dtype=torch.float64), torch.tensor([0, 1, 1, 0, 1, 0, 0, 1, 1])
    torch.manual_seed(1)
    found = fast_group_mmd(z, groups, 2, width=1.0)
    torch.manual_seed(1)
    expected = fast_mmd(z[groups == 0], z[groups == 1], width=1.0)
    assert_close(found, expected)


def test_each_of_several_groups_is_compared_with_the_rest() -> None:
    """The fourth group has no rows, and counts for nothing."""
    z, groups = torch.randn(9, 2, dtype=torch.float64), torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 1])
    torch.manual_seed(1)
    found = fast_group_mmd(z, groups, 4, width=1.0)
    expected = []
    for group in range(3):
        torch.manual_seed(1)
        expected.append(fast_mmd(z[groups == group], z[groups != group], width=1.0))
    assert_close(found, torch.stack(expected).mean())


def test_one_group_alone_has_nothing_to_differ_from() -> None:
    z = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    value = fast_group_mmd(z, torch.zeros(5, dtype=torch.long), 3, width=1.0)
    assert value == 0 and torch.autograd.grad(value, z)[0].isfinite().all()
