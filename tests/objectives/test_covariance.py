"""Covariances against NumPy and by hand, src/unbraid/objectives/covariance.py."""

import numpy as np
import torch
from torch.testing import assert_close

from unbraid.objectives import aggregate_covariance, covariance, diagonal_penalty, off_diagonal_penalty
from unbraid.types import Gaussian


def test_covariance_is_over_the_batch_and_biased() -> None:
    codes = torch.randn(7, 3, dtype=torch.float64)
    assert_close(covariance(codes), torch.from_numpy(np.cov(codes.numpy().T, bias=True)))


def test_the_bias_is_one_part_in_n() -> None:
    """Averaged over batches of 5 draws with covariance 1, it is 4/5."""
    codes = torch.randn(3_000, 5, 2, dtype=torch.float64)
    mean = torch.stack([covariance(batch) for batch in codes]).mean(0)
    assert_close(mean, 0.8 * torch.eye(2, dtype=torch.float64), atol=0.05, rtol=0)


def test_aggregate_covariance_is_that_of_draws() -> None:
    q = Gaussian(*torch.randn(2, 4, 3, dtype=torch.float64))
    draws = Gaussian(*(part.repeat(20_000, 1) for part in q)).sample()
    assert_close(aggregate_covariance(q), covariance(draws), atol=0.1, rtol=0.02)


def test_penalties_by_hand() -> None:
    c = torch.tensor([[3.0, 2.0, 0.0], [2.0, 1.0, -1.0], [0.0, -1.0, 0.5]])
    assert_close(off_diagonal_penalty(c).item(), 2 * (4.0 + 1.0))
    assert_close(diagonal_penalty(c).item(), 4.0 + 0.25)
    assert_close((off_diagonal_penalty(torch.eye(3)) + diagonal_penalty(torch.eye(3))).item(), 0.0)
