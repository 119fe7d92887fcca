"""The sign and size of a reversed gradient, src/unbraid/objectives/gradient_reversal.py."""

import torch
from torch.testing import assert_close

from unbraid.objectives.gradient_reversal import reverse_gradient


def test_values_stay_and_gradients_turn_round() -> None:
    z = torch.tensor([[1.0, -2.0]], requires_grad=True)
    out = reverse_gradient(z, 3.0)
    assert_close(out, z)
    (gradient,) = torch.autograd.grad((out * torch.tensor([[5.0, 7.0]])).sum(), z)
    assert_close(gradient, torch.tensor([[-15.0, -21.0]]))


def test_what_comes_after_learns_as_ever() -> None:
    z, weight = torch.randn(4, 2), torch.randn(2, requires_grad=True)
    (reversed_,) = torch.autograd.grad((reverse_gradient(z, 2.0) @ weight).sum(), weight)
    (plain,) = torch.autograd.grad((z @ weight).sum(), weight)
    assert_close(reversed_, plain)


def test_it_can_be_stacked() -> None:
    z = torch.randn(3, 4, 2)
    gradient = torch.func.vmap(torch.func.grad(lambda one: reverse_gradient(one, 2.0).square().sum()))(z)
    assert_close(gradient, -4 * z)
