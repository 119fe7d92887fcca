"""Divergences against torch.distributions and by hand, src/unbraid/objectives/elbo.py."""

import math

import torch
from torch import distributions
from torch.testing import assert_close

from unbraid.objectives import code_nll, kl, kl_per_dim, kl_to_standard_normal
from unbraid.types import Gaussian


def gaussian(seed: int) -> Gaussian:
    generator = torch.Generator().manual_seed(seed)
    return Gaussian(*torch.randn(2, 5, 3, generator=generator, dtype=torch.float64))


def as_distribution(q: Gaussian) -> distributions.Normal:
    return distributions.Normal(q.mean, q.variance.sqrt())


def test_between_two_gaussians() -> None:
    q, p = gaussian(0), gaussian(1)
    assert_close(kl(q, p), distributions.kl_divergence(as_distribution(q), as_distribution(p)))


def test_to_the_prior() -> None:
    q = gaussian(0)
    prior = Gaussian(torch.zeros_like(q.mean), torch.zeros_like(q.mean))
    assert_close(kl_per_dim(q), kl(q, prior).mean(0))
    assert_close(kl_to_standard_normal(q), kl(q, prior).sum(1).mean())


def test_by_hand() -> None:
    """Mean 2, variance 1: ½·4. Mean 0, variance e: ½(e - 1 - 1). The prior itself: 0."""
    q = Gaussian(torch.tensor([[2.0, 0.0, 0.0]]), torch.tensor([[0.0, 1.0, 0.0]]))
    assert_close(kl_per_dim(q), torch.tensor([2.0, (math.e - 2) / 2, 0.0]))


def test_direction() -> None:
    """From variance 1 to variance 4: ½(¼ - 1 + log 4); the other way: ½(4 - 1 - log 4)."""
    narrow = Gaussian(torch.zeros(1, 1), torch.zeros(1, 1))
    wide = Gaussian(torch.zeros(1, 1), torch.full((1, 1), math.log(4)))
    assert_close(kl(narrow, wide).item(), (math.log(4) - 0.75) / 2, atol=1e-6, rtol=0)
    assert_close(kl(wide, narrow).item(), (3 - math.log(4)) / 2, atol=1e-6, rtol=0)


def test_code_nll_is_the_normal_density() -> None:
    q = Gaussian(torch.randn(5, 3, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64))
    z = torch.randn(5, 3, dtype=torch.float64)
    density = torch.distributions.Normal(q.mean, (0.5 * q.logvar).exp())
    assert_close(code_nll(q, z), -density.log_prob(z).sum(1).mean())
