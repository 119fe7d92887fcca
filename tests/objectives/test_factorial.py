"""Codes under factorial Gaussians, by hand, src/unbraid/objectives/factorial.py."""

import math

import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.objectives.factorial import class_moments, factorial_nll, set_moments


def test_eq_7_by_hand() -> None:
    """One set {(0, 1), (2, 1)}: μ = (1, 1), σ = (1, floor). The first code costs ½ + log 1, the second log floor;
    both ½ log 2π."""
    z = torch.tensor([[[0.0, 1.0], [2.0, 1.0]]], dtype=torch.float64)
    mu, sigma = set_moments(z, floor=0.1)
    assert_close(mu, torch.tensor([[[1.0, 1.0]]], dtype=torch.float64))
    assert_close(sigma, torch.tensor([[[1.0, 0.1]]], dtype=torch.float64))
    assert_close(factorial_nll(z, mu, sigma).item(), 0.5 + math.log(0.1) + math.log(2 * math.pi))


def test_a_set_s_own_moments_leave_half_a_nat_a_code_and_its_log_spread() -> None:
    torch.manual_seed(0)
    z = torch.randn(5, 4, 3, dtype=torch.float64)
    spreads = z.std(1, correction=0)
    expected = 3 * (0.5 + 0.5 * math.log(2 * math.pi)) + spreads.log().sum(1).mean()
    assert_close(factorial_nll(z, *set_moments(z, floor=1e-4)), expected)


def test_it_is_the_density_of_independent_normals() -> None:
    torch.manual_seed(0)
    z, mean, sigma = (torch.rand(6, 3, dtype=torch.float64) + 0.1 for _ in range(3))
    expected = -torch.distributions.Normal(mean, sigma).log_prob(z).sum(1).mean()
    assert_close(factorial_nll(z, mean, sigma), expected)


def test_sets_do_not_mix() -> None:
    """Moving one set changes its own moments alone."""
    torch.manual_seed(0)
    z = torch.randn(4, 3, 2, dtype=torch.float64)
    moved = z.clone()
    moved[1] += torch.randn(3, 2, dtype=torch.float64)
    for before, after in zip(set_moments(z, floor=1e-4), set_moments(moved, floor=1e-4), strict=True):
        assert (before != after).flatten(1).any(1).tolist() == [False, True, False, False]


def test_with_a_floor_the_loss_is_bounded_and_its_slope_is_small() -> None:
    """Codes that shrink to nothing: the loss ends at d (log floor + ½ log 2π), and the slope at 0."""
    torch.manual_seed(0)
    shape = torch.randn(5, 4, 3, dtype=torch.float64)
    bound = 3 * (math.log(1e-2) + 0.5 * math.log(2 * math.pi))
    losses, slopes = [], []
    for size in (1.0, 1e-3, 1e-6, 1e-12):
        z = (size * shape).requires_grad_()
        nll = factorial_nll(z, *set_moments(z, floor=1e-2))
        losses.append(nll.item())
        slopes.append(torch.autograd.grad(nll, z)[0].abs().max().item())
    assert losses == sorted(losses, reverse=True) and losses[-1] >= bound
    assert_close(losses[-1], bound)
    assert slopes[-1] < 1e-6


def test_the_floor_is_the_most_likely_spread_of_those_allowed() -> None:
    torch.manual_seed(0)
    z = 0.01 * torch.randn(1, 5, 1, dtype=torch.float64)
    mean, sigma = set_moments(z, floor=0.1)
    best = factorial_nll(z, mean, sigma)
    assert all(factorial_nll(z, mean, other * sigma) > best for other in (1.01, 1.5, 3.0))
    assert factorial_nll(z, mean, 0.9 * sigma) < best  # smaller would be likelier, and is not allowed


def rotated(z: Tensor, angle: float) -> Tensor:
    """The codes whitened by their mean spreads, turned, and scaled back: volumes stay as they are."""
    scale = z.var(1, correction=0).mean(0).sqrt()
    c, s = math.cos(angle), math.sin(angle)
    return z / scale @ torch.tensor([[c, -s], [s, c]], dtype=z.dtype) * scale


def gaussians(spreads: Tensor) -> Tensor:
    """Large sets with exactly the given spreads and no correlation."""
    torch.manual_seed(0)
    z = torch.randn(2000, 2, dtype=torch.float64)
    z = (z - z.mean(0)) @ torch.linalg.inv(torch.linalg.cholesky(torch.cov(z.t(), correction=0))).t()
    return z[None] * spreads[:, None]


def test_constant_spreads_leave_a_rotation_free() -> None:
    z = gaussians(torch.tensor([[1.0, 3.0]] * 4, dtype=torch.float64))
    straight = factorial_nll(z, *set_moments(z, floor=1e-4))
    for angle in (0.3, math.pi / 4, 1.2):
        turned = rotated(z, angle)
        assert_close(factorial_nll(turned, *set_moments(turned, floor=1e-4)), straight)


def test_spreads_in_a_varying_ratio_single_out_the_axes() -> None:
    z = gaussians(torch.tensor([[1.0, 3.0], [2.0, 1.0], [1.0, 0.5]], dtype=torch.float64))
    straight = factorial_nll(z, *set_moments(z, floor=1e-4))
    for angle in (0.1, 0.3, math.pi / 4, 1.2):
        turned = rotated(z, angle)
        assert factorial_nll(turned, *set_moments(turned, floor=1e-4)) > straight + 1e-3
    together = gaussians(torch.tensor([[1.0, 3.0], [2.0, 6.0]], dtype=torch.float64))  # in one ratio
    turned = rotated(together, 0.5)
    assert_close(
        factorial_nll(turned, *set_moments(turned, floor=1e-4)),
        factorial_nll(together, *set_moments(together, floor=1e-4)),
    )


def test_class_moments_are_those_of_each_class() -> None:
    torch.manual_seed(0)
    z, labels = torch.randn(7, 3, dtype=torch.float64), torch.tensor([0, 2, 0, 2, 2, 0, 3])
    mean, sigma = class_moments(z, labels, 5, floor=1e-2)
    for label in (0, 2):
        members = z[labels == label]
        assert_close(mean[label], members.mean(0))
        assert_close(sigma[label], members.std(0, correction=0))
    assert_close(mean[3], z[6])  # alone in its class: no spread but the floor
    assert_close(sigma[3], torch.full((3,), 1e-2, dtype=torch.float64))
    assert mean[1].abs().sum() == 0 and mean.isfinite().all()
