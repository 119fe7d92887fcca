"""Averages over a class by hand, src/unbraid/objectives/class_average.py."""

import torch
from torch.testing import assert_close

from unbraid.objectives.class_average import class_average
from unbraid.types import Gaussian


def test_means_and_variances_are_averaged_by_hand() -> None:
    """Class 0: means 0 and 4, variances 1 and 3. Class 1 has one row, which stays what it is."""
    mean = torch.tensor([[0.0, 1.0], [7.0, 7.0], [4.0, 1.0]], dtype=torch.float64)
    variance = torch.tensor([[1.0, 2.0], [5.0, 6.0], [3.0, 4.0]], dtype=torch.float64)
    average, company = class_average(Gaussian(mean, variance.log()), torch.tensor([0, 1, 0]))
    expected = torch.tensor([[2.0, 1.0], [7.0, 7.0], [2.0, 1.0]], dtype=torch.float64)
    assert_close(average.mean, expected)
    expected = torch.tensor([[2.0, 3.0], [5.0, 6.0], [2.0, 3.0]], dtype=torch.float64)
    assert_close(average.variance, expected)
    assert company.tolist() == [True, False, True]


def test_gradients_reach_every_row_of_the_class() -> None:
    mean = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    average, _ = class_average(Gaussian(mean, torch.zeros_like(mean)), torch.tensor([0, 1, 0]))
    (gradient,) = torch.autograd.grad(average.mean[0].sum(), mean)
    assert_close(gradient, torch.tensor([[0.5, 0.5], [0.0, 0.0], [0.5, 0.5]], dtype=torch.float64))
