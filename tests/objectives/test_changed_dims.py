"""Changed codes, src/unbraid/objectives/changed_dims.py."""

import math

import pytest
import torch
from torch.testing import assert_close

from unbraid.objectives.changed_dims import divergence_per_dim, jensen_shannon, swap_where, unchanged_mask
from unbraid.types import Gaussian


def gaussian(mean: float, variance: float) -> Gaussian:
    return Gaussian(
        torch.tensor([[mean]], dtype=torch.float64), torch.tensor([[math.log(variance)]], dtype=torch.float64)
    )


def test_kl_by_hand() -> None:
    """(σ1² + (μ1 - μ2)²) / 2σ2² + ln(σ2 / σ1) - ½ = (1 + 4) / 8 + ln 2 - ½."""
    found = divergence_per_dim(gaussian(0.0, 1.0), gaussian(2.0, 4.0), "kl")
    assert_close(found.item(), 5 / 8 + math.log(2) - 0.5)


def test_jsd_by_hand() -> None:
    """Equal unit variances, means 2 apart: M = N(1, 1), and both divergences are ½ · 1²."""
    assert_close(jensen_shannon(gaussian(0.0, 1.0), gaussian(2.0, 1.0)).item(), 0.5)


def test_jsd_by_moments_by_hand() -> None:
    """M = N(1, 1 + 1): each is ½ (½ + ½ - 1 + ln 2) = ½ ln 2."""
    found = jensen_shannon(gaussian(0.0, 1.0), gaussian(2.0, 1.0), moments=True)
    assert_close(found.item(), 0.5 * math.log(2))


@pytest.mark.parametrize("moments", [False, True])
def test_jsd_is_symmetric_and_zero_for_equals(moments: bool) -> None:
    a, b = gaussian(0.3, 0.5), gaussian(-1.0, 2.0)
    assert_close(jensen_shannon(a, b, moments=moments), jensen_shannon(b, a, moments=moments))
    assert_close(jensen_shannon(a, a, moments=moments).item(), 0.0)


def test_the_moments_keep_a_far_pair_near_the_true_divergence() -> None:
    """The divergence from the real mixture, by Monte Carlo, is ln 2 for far posteriors; Gaussians overrate it."""
    a, b = gaussian(0.0, 1.0), gaussian(8.0, 1.0)
    z = torch.randn(200_000, dtype=torch.float64)
    log_a, log_b = -0.5 * z.square(), -0.5 * (z - 8).square()
    true = (log_a - torch.logaddexp(log_a, log_b) + math.log(2)).mean().item()  # the same from either side
    assert_close(true, math.log(2), rtol=1e-3, atol=1e-3)
    arithmetic = jensen_shannon(a, b).item()
    by_moments = jensen_shannon(a, b, moments=True).item()
    assert true < by_moments < arithmetic
    assert_close(by_moments, 0.5 * math.log(17))  # ½ ln(1 + 8² / 4)
    assert_close(arithmetic, 8.0)  # 4² / 2


DELTA = torch.tensor([[0.5, 3.0, 0.1, 2.0], [9.0, 1.0, 2.0, 3.0]])


def test_all_but_the_k_that_changed_most_are_swapped() -> None:
    k = torch.tensor([1, 2])
    assert unchanged_mask(DELTA, k).tolist() == [[True, False, True, True], [False, True, True, False]]


def test_with_k_equal_to_the_number_of_codes_nothing_is_swapped() -> None:
    for k in (4, 7):
        assert not unchanged_mask(DELTA, torch.full((2,), k)).any()
        assert not unchanged_mask(DELTA, torch.full((2,), k), progress=torch.tensor(0.0)).any()


def test_the_warm_up_by_amount_at_its_ends_and_between() -> None:
    k = torch.tensor([1, 1])
    start, middle, end = (unchanged_mask(DELTA, k, progress=torch.tensor(p)) for p in (0.0, 0.5, 1.0))
    assert start.tolist() == [[False, False, True, False], [False, True, False, False]]  # the least changed
    assert middle.sum(1).tolist() == [2, 2]
    assert end.tolist() == unchanged_mask(DELTA, k).tolist()


def test_swapping_twice_gives_back_the_original() -> None:
    a, b, mask = torch.randn(5, 3), torch.randn(5, 3), torch.rand(5, 3) < 0.5
    assert_close(swap_where(*swap_where(a, b, mask), mask), (a, b))
