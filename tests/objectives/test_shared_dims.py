"""Which codes a pair shares, by a slow rewriting and by hand, src/unbraid/objectives/shared_dims.py."""

import math

import torch
from torch.testing import assert_close

from unbraid.objectives.shared_dims import average_posterior, product_posterior, replace_shared, shared_mask
from unbraid.types import Gaussian


def gaussian(means: list[float], variances: list[float]) -> Gaussian:
    return Gaussian(
        torch.tensor([means], dtype=torch.float64), torch.tensor([variances], dtype=torch.float64).log()
    )


def test_slow_rewriting() -> None:
    q1, q2 = (Gaussian(*torch.randn(2, 20, 5, dtype=torch.float64)) for _ in range(2))
    mask = shared_mask(q1, q2)
    for row in range(20):
        deltas = []
        for code in range(5):
            v1, v2 = q1.variance[row, code].item(), q2.variance[row, code].item()
            distance = q1.mean[row, code].item() - q2.mean[row, code].item()
            deltas.append((v1 + distance**2) / (2 * v2) + 0.5 * math.log(v2 / v1) - 0.5)
        middle = (max(deltas) + min(deltas)) / 2
        assert mask[row].tolist() == [delta < middle for delta in deltas]


def test_the_direction_is_from_the_first_to_the_second() -> None:
    """δ is (1.36, 2.90, 0) from the first to the second, of which 1.45 is the middle, and (1.36, 0.65, 0) the
    other way, of which it is 0.68."""
    first, second = gaussian([0, 0, 0], [1, 9, 1]), gaussian([1.65, 0, 0], [1, 1, 1])
    assert shared_mask(first, second).tolist() == [[True, False, True]]
    assert shared_mask(second, first).tolist() == [[False, True, True]]


def test_a_pair_of_equal_posteriors_shares_none() -> None:
    q = gaussian([0, 1], [1, 2])
    assert not shared_mask(q, q).any()


def test_average_by_hand() -> None:
    both = average_posterior(gaussian([1], [1]), gaussian([4], [3]))
    assert_close([both.mean.item(), both.variance.item()], [2.5, 2.0])


def test_product_by_hand() -> None:
    """Variance 2·1·3/(1 + 3) = 1.5, mean ½·1.5·(1/1 + 4/3) = 1.75."""
    both = product_posterior(gaussian([1], [1]), gaussian([4], [3]))
    assert_close([both.mean.item(), both.variance.item()], [1.75, 1.5])


def test_equal_posteriors_stay_what_they_are() -> None:
    q = gaussian([1, -2], [0.5, 3])
    for common in (average_posterior(q, q), product_posterior(q, q)):
        assert_close(common.mean, q.mean)
        assert_close(common.logvar, q.logvar)


def test_far_apart_variances_stay_finite() -> None:
    """Log-variances of ±200 overflow as variances in float32."""
    q1 = Gaussian(torch.zeros(1, 1), torch.full((1, 1), 200.0))
    q2 = Gaussian(torch.ones(1, 1), torch.full((1, 1), -200.0))
    assert_close(average_posterior(q1, q2).logvar.item(), 200 - math.log(2), atol=1e-4, rtol=0)
    assert_close(product_posterior(q1, q2).logvar.item(), -200 + math.log(2), atol=1e-4, rtol=0)
    assert_close(product_posterior(q1, q2).mean.item(), 1.0)


def test_only_shared_dims_are_replaced() -> None:
    q1, q2, common = gaussian([1, 2], [1, 2]), gaussian([3, 4], [3, 4]), gaussian([5, 6], [5, 6])
    new1, new2 = replace_shared(torch.tensor([[True, False]]), q1, q2, common)
    assert_close(torch.cat([new1.mean, new1.variance]), gaussian([5, 2], [5, 2]).mean.expand(2, -1))
    assert_close(torch.cat([new2.mean, new2.variance]), gaussian([5, 4], [5, 4]).mean.expand(2, -1))
