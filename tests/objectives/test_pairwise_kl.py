"""Divergences between posteriors, src/unbraid/objectives/pairwise_kl.py."""

import math

import torch
from torch.testing import assert_close

from unbraid.objectives.elbo import kl
from unbraid.objectives.pairwise_kl import pairwise_kl
from unbraid.types import Gaussian


def test_two_posteriors_by_hand() -> None:
    """N(0, 1) and N(2, 4): ½ (¼ + 1 - 1 + ln 4) one way, ½ (4 + 4 - 1 - ln 4) the other; two of four pairs are 0."""
    mean, variance = torch.tensor([[0.0], [2.0]]), torch.tensor([[1.0], [4.0]])
    forth, back = 0.5 * (0.25 + math.log(4)), 0.5 * (7 - math.log(4))
    found = pairwise_kl(Gaussian(mean.double(), variance.double().log()))
    assert_close(found.item(), (forth + back) / 4)


def test_slow_rewriting() -> None:
    q = Gaussian(torch.randn(5, 3, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64))
    rows = [Gaussian(q.mean[i, None], q.logvar[i, None]) for i in range(5)]
    assert_close(pairwise_kl(q), sum(kl(a, b).sum() for a in rows for b in rows) / 25)


def test_it_is_never_below_the_divergence_from_the_mixture() -> None:
    torch.manual_seed(0)
    q = Gaussian(torch.randn(6, 1, dtype=torch.float64), torch.randn(6, 1, dtype=torch.float64))
    z = q.mean + (0.5 * q.logvar).exp() * torch.randn(20_000, 6, 1, dtype=torch.float64)

    def log_density(z: torch.Tensor, mean: torch.Tensor, logvar: torch.Tensor) -> torch.Tensor:
        return -0.5 * ((z - mean).square() / logvar.exp() + logvar + math.log(2 * math.pi))

    own = log_density(z, q.mean, q.logvar).sum(2)
    every = log_density(z[:, :, None], q.mean, q.logvar).sum(3).logsumexp(2) - math.log(6)
    assert 0 < (own - every).mean() < pairwise_kl(q)


def test_equal_posteriors_do_not_differ() -> None:
    q = Gaussian(torch.full((4, 2), 3.0), torch.full((4, 2), -1.0))
    assert_close(pairwise_kl(q).item(), 0.0, atol=1e-6, rtol=0.0)
