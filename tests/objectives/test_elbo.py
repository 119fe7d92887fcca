"""Likelihoods by hand and against torch.distributions, src/unbraid/objectives/elbo.py."""

import math

import pytest
import torch
from torch import distributions
from torch.testing import assert_close

from unbraid.objectives import Bernoulli, Likelihood, Normal, Pixels, bernoulli_nll, gaussian_nll
from unbraid.types import Observations


@pytest.fixture
def x() -> Observations:
    return torch.rand(3, 2, 4, 4, dtype=torch.float64)


def test_a_decoder_that_knows_nothing_costs_log_2_a_pixel(x: Observations) -> None:
    assert_close(bernoulli_nll(torch.zeros_like(x), x).item(), 32 * math.log(2))


def test_bernoulli_by_hand() -> None:
    """σ(log 3) = ¾, so a white pixel costs log(4/3) and a black one log 4; two images of two pixels."""
    logits = torch.full((2, 2), math.log(3), dtype=torch.float64)
    x = torch.tensor([[1.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    assert_close(bernoulli_nll(logits, x).item(), (3 * math.log(4 / 3) + math.log(4)) / 2)


def test_bernoulli_at_its_best_costs_the_entropy_of_the_pixels(x: Observations) -> None:
    entropy = -(x * x.log() + (1 - x) * (1 - x).log()).sum() / len(x)
    logits = x.logit().requires_grad_()
    nll = bernoulli_nll(logits, x)
    assert_close(nll, entropy)
    (gradient,) = torch.autograd.grad(nll, logits)
    assert_close(gradient, torch.zeros_like(x))


@pytest.mark.parametrize("sigma", [0.1, 1.0, 3.0])
def test_gaussian_is_the_log_density(x: Observations, sigma: float) -> None:
    mean = torch.randn_like(x)
    log_density = distributions.Normal(mean, sigma).log_prob(x).sum((1, 2, 3)).mean()
    assert_close(gaussian_nll(mean, x, sigma=sigma), -log_density)


@pytest.mark.parametrize("likelihood", [Bernoulli(), Normal(), Normal(0.1)])
def test_terms_are_sums_over_pixels_and_means_over_the_batch(likelihood: Likelihood, x: Observations) -> None:
    """Twice the batch changes nothing; twice the pixels cost twice as much."""
    parameters = torch.randn_like(x)
    once = likelihood.nll(parameters, x)
    assert_close(likelihood.nll(torch.cat([parameters] * 2), torch.cat([x] * 2)), once)
    assert_close(likelihood.nll(torch.cat([parameters] * 2, 3), torch.cat([x] * 2, 3)), 2 * once)


def test_means(x: Observations) -> None:
    assert_close(Bernoulli().mean(x.logit()), x)
    assert_close(Normal(2.0).mean(x), x)


def test_parameters_of_a_mean_have_it_and_stay_finite(x: Observations) -> None:
    for family in (Bernoulli(), Normal(2.0), Pixels()):
        assert_close(family.mean(family.parameters_of(x, margin=0.0)), x)
    black, white = Bernoulli().parameters_of(torch.tensor([0.0, 1.0], dtype=torch.float64), margin=0.1)
    assert_close((black.item(), white.item()), (-math.log(9), math.log(9)))


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan])
def test_sigma_must_be_above_0(sigma: float) -> None:
    with pytest.raises(ValueError, match="sigma of a normal likelihood must be above 0; got"):
        Normal(sigma)


def test_likelihoods_are_written_by_name() -> None:
    assert Likelihood.parse("bernoulli") == Bernoulli()
    assert Likelihood.parse("normal") == Normal(1.0)
    assert Likelihood.parse(str(Normal(0.5))) == Normal(0.5)


def test_pixels_are_normal_about_the_sigmoid() -> None:
    logits, x = torch.randn(4, 1, 2, 2, dtype=torch.float64), torch.rand(4, 1, 2, 2, dtype=torch.float64)
    for sigma in (0.5**0.5, 0.1):
        family = Pixels(sigma)
        assert_close(family.nll(logits, x), Normal(sigma).nll(logits.sigmoid(), x))
        assert_close(family.mean(logits), logits.sigmoid())
    squares = (logits.sigmoid() - x).square().flatten(1).sum(1).mean()
    assert_close(Pixels().nll(logits, x) - Pixels().nll(logits, logits.sigmoid()), squares)  # 2σ² = 1
    assert Pixels.parse("pixels:0.1") == Pixels(0.1) and Pixels().short() == "pixels"
