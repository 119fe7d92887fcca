"""Computations of the types, src/unbraid/types.py."""

import pytest
import torch
from jaxtyping import TypeCheckError
from torch.testing import assert_close

from unbraid.types import Batch, Gaussian, Terms


def test_samples_of_a_posterior_have_its_mean_and_variance() -> None:
    mean = torch.tensor([[1.0, -2.0]], dtype=torch.float64).expand(200_000, 2)
    logvar = torch.tensor([[0.0, 2.0]], dtype=torch.float64).expand(200_000, 2)
    q = Gaussian(mean, logvar)
    z = q.sample()
    assert_close(z.mean(0), mean[0], atol=0.03, rtol=0)
    assert_close(z.var(0), q.variance[0], atol=0, rtol=0.03)


def test_a_posterior_without_variance_is_its_mean() -> None:
    mean = torch.randn(5, 3, dtype=torch.float64)
    assert_close(Gaussian(mean, torch.full_like(mean, -200.0)).sample(), mean)


def test_samples_carry_the_gradients_of_mean_and_variance() -> None:
    mean = torch.zeros(4, 2, dtype=torch.float64, requires_grad=True)
    logvar = torch.zeros(4, 2, dtype=torch.float64, requires_grad=True)
    z = Gaussian(mean, logvar).sample()
    z.sum().backward()
    assert mean.grad is not None
    assert logvar.grad is not None
    assert_close(mean.grad, torch.ones_like(mean))
    assert_close(logvar.grad, z.detach() / 2)  # dz/dlogvar = ½ σ ε, and z = σ ε here


def test_terms_list_the_total_first() -> None:
    one = torch.tensor(1.0, requires_grad=True)
    terms = Terms(3 * one, {"nll": one, "kl": 2 * one})
    assert terms.names == ("loss", "nll", "kl")
    assert terms.detached().tolist() == [3, 1, 2]
    assert not terms.detached().requires_grad


def test_unknown_fields_of_a_batch_are_none() -> None:
    batch = Batch(torch.zeros(2, 1, 4, 4))
    assert batch.labels is batch.nuisances is batch.factors is None


def test_shapes_are_checked_in_the_tests() -> None:
    from unbraid.strands import Strands

    with pytest.raises(TypeCheckError):
        Strands.from_sizes(a=2).zero(torch.zeros(2), "a")
