"""What critics say, against their closed forms, src/unbraid/objectives/density_ratio.py."""

import math

import torch
from torch import distributions
from torch.nn import functional as F
from torch.testing import assert_close

from unbraid.objectives import critic_cross_entropy, log_density_ratio


def test_a_critic_that_guesses() -> None:
    logits = torch.full((4, 2), 7.0, dtype=torch.float64)
    assert_close(log_density_ratio(logits).item(), 0.0)
    assert_close(critic_cross_entropy(logits, logits).item(), math.log(2))


def test_a_critic_that_knows() -> None:
    original, shuffled = torch.tensor([[50.0, -50.0]]), torch.tensor([[-50.0, 50.0]])
    assert_close(critic_cross_entropy(original, shuffled).item(), 0.0)


def test_the_best_critic_gives_the_total_correlation() -> None:
    """Two standard normal codes of correlation ρ have the total correlation -½ log(1 - ρ²)."""
    rho = 0.8
    cov = torch.tensor([[1.0, rho], [rho, 1.0]], dtype=torch.float64)
    joint = distributions.MultivariateNormal(torch.zeros(2, dtype=torch.float64), cov)
    z = joint.sample((20_000,))
    logits = torch.stack([joint.log_prob(z), distributions.Normal(0.0, 1.0).log_prob(z).sum(1)], 1)
    assert_close(log_density_ratio(logits).item(), -0.5 * math.log(1 - rho**2), atol=0.02, rtol=0)


def test_cross_entropy_is_that_of_two_classes() -> None:
    original, shuffled = torch.randn(2, 6, 2, dtype=torch.float64)
    first, second = torch.zeros(6, dtype=torch.long), torch.ones(6, dtype=torch.long)
    expected = 0.5 * (F.cross_entropy(original, first) + F.cross_entropy(shuffled, second))
    assert_close(critic_cross_entropy(original, shuffled), expected)
