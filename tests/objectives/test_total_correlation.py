"""Total correlation: closed forms, a slow rewriting, its bias, src/unbraid/objectives/total_correlation.py."""

import itertools
import math

import pytest
import torch
from torch import distributions
from torch.testing import assert_close

from unbraid.objectives import decompose, total_correlation
from unbraid.objectives.total_correlation import Sampling, log_weights_of
from unbraid.types import Gaussian

B, D, N = 5, 3, 40
SAMPLINGS: list[Sampling] = ["weighted", "stratified"]


@pytest.fixture
def q() -> Gaussian:
    return Gaussian(*torch.randn(2, B, D, dtype=torch.float64))


def slow_weight(i: int, j: int, batch: int, n: int, sampling: Sampling) -> float:
    """App. C: of a batch of M + 1, the row's own image weighs 1/N and the M others 1/M, but the last of these
    (N - M)/(NM)."""
    if sampling == "weighted":
        return 1 / (n * batch)
    if j == i:
        return 1 / n
    others = [(i + 1 + step) % batch for step in range(batch - 1)]
    return (n - len(others)) / (n * len(others)) if j == others[0] else 1 / len(others)


def slow_total_correlation(z: torch.Tensor, q: Gaussian, n: int, sampling: Sampling) -> float:
    total, batch = 0.0, len(z)
    for i in range(batch):
        weights = [slow_weight(i, j, batch, n, sampling) for j in range(batch)]
        densities = [
            [
                distributions.Normal(q.mean[j, c], q.variance[j, c].sqrt()).log_prob(z[i, c]).exp().item()
                for c in range(D)
            ]
            for j in range(batch)
        ]
        joint = sum(weight * math.prod(row) for weight, row in zip(weights, densities, strict=True))
        marginals = [
            sum(weight * row[c] for weight, row in zip(weights, densities, strict=True)) for c in range(D)
        ]
        total += (math.log(joint) - sum(map(math.log, marginals))) / batch
    return total


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_slow_rewriting(q: Gaussian, sampling: Sampling) -> None:
    z = q.sample()
    expected = slow_total_correlation(z, q, N, sampling)
    assert_close(total_correlation(z, q, N, sampling=sampling).item(), expected)


@pytest.mark.parametrize("n", [5, 100, 737_280])
def test_identical_posteriors_show_the_bias_of_weighting(n: int) -> None:
    """q(z) comes out n times too small, and so does each of the d marginals: (d - 1) log n instead of 0."""
    q = Gaussian(*torch.randn(2, 1, D, dtype=torch.float64).expand(2, B, D))
    z = q.sample()
    assert_close(total_correlation(z, q, n).item(), (D - 1) * math.log(n))
    assert_close(total_correlation(z, q, n, sampling="stratified").item(), 0.0, atol=1e-12, rtol=0)
    weighted = decompose(z, q, n)
    assert_close(weighted.mutual_information.item(), math.log(n))  # instead of 0


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_pieces_add_up_to_the_divergence_at_z(q: Gaussian, sampling: Sampling) -> None:
    z = q.sample()
    posterior = distributions.Normal(q.mean, q.variance.sqrt()).log_prob(z).sum(1)
    prior = distributions.Normal(0.0, 1.0).log_prob(z).sum(1)
    assert_close(sum(decompose(z, q, N, sampling=sampling)), (posterior - prior).mean())


def test_stratified_weights_have_1_over_n_on_the_diagonal() -> None:
    """Elsewhere it has been seen in column 0."""
    weights = log_weights_of(B, B, N, "stratified", torch.zeros(1, dtype=torch.float64)).exp()
    assert_close(weights.diagonal(), torch.full((B,), 1 / N, dtype=torch.float64))
    assert_close(weights.sum(1), torch.ones(B, dtype=torch.float64))
    slow = [[slow_weight(i, j, B, N, "stratified") for j in range(B)] for i in range(B)]
    assert_close(weights, torch.tensor(slow, dtype=torch.float64))


def test_stratified_estimate_of_the_density_is_unbiased() -> None:
    """Over all batches that hold the image of z and 2 of the 4 others, in every order."""
    density = torch.tensor([0.9, 0.1, 0.5, 0.3, 0.7], dtype=torch.float64)  # q(z|x_j) of the 5 images
    weights = log_weights_of(3, 3, 5, "stratified", density).exp()[0]
    batches = [[0, *others] for others in itertools.permutations(range(1, 5), 2)]
    estimates = torch.stack([(weights * density[batch]).sum() for batch in batches])
    assert_close(estimates.mean(), density.mean())


def test_weighted_estimate_of_the_density_is_too_small() -> None:
    weights = log_weights_of(B, B, N, "weighted", torch.zeros(1, dtype=torch.float64)).exp()
    assert_close(weights.sum(1), torch.full((B,), 1 / N, dtype=torch.float64))


def test_codes_that_are_copies_of_each_other_have_a_large_total_correlation() -> None:
    """Of two equal codes the total correlation is their entropy less that of the noise; far above 0."""
    mean = torch.linspace(-3, 3, 64, dtype=torch.float64)[:, None].expand(64, 2)
    q = Gaussian(mean, torch.full_like(mean, -4.0))
    spread = Gaussian(torch.stack([mean[:, 0], mean[torch.randperm(64), 1]], 1), q.logvar)
    copies = total_correlation(q.sample(), q, 64, sampling="stratified")
    unrelated = total_correlation(spread.sample(), spread, 64, sampling="stratified")
    assert copies > unrelated + 0.5


@pytest.mark.parametrize(("batch", "n"), [(1, 40), (5, 4)])
def test_stratified_sampling_needs_a_batch_within_the_dataset(batch: int, n: int) -> None:
    q = Gaussian(torch.zeros(batch, 2), torch.zeros(batch, 2))
    with pytest.raises(ValueError, match=f"got a batch of {batch} and n = {n}"):
        total_correlation(q.sample(), q, n, sampling="stratified")
