"""Projection heads, src/unbraid/nn/projection.py."""

import pytest
import torch
from torch.testing import assert_close

from unbraid.nn import Projection


def test_each_head_uses_its_strand_of_the_features_alone() -> None:
    projection, r = Projection(8, 6, heads=2).double(), torch.randn(5, 8, dtype=torch.float64)
    z = projection(r)
    assert z.shape == (5, 6)
    moved = torch.cat([r[:, :4], torch.randn(5, 4, dtype=torch.float64)], 1)
    assert_close(projection(moved)[:, :3], z[:, :3])
    assert (projection(moved)[:, 3:] != z[:, 3:]).all()


def test_one_head_sees_all_of_them() -> None:
    projection, r = Projection(8, 6).double().eval(), torch.randn(5, 8, dtype=torch.float64)
    r.requires_grad_()
    (gradient,) = torch.autograd.grad(projection(r)[:, 0].sum(), r)
    assert gradient.any(0).all()


def test_every_dimension_is_in_use_from_the_start() -> None:
    """The last normalization gives each of them mean 0 and variance 1 over the batch."""
    z = Projection(8, 6, heads=2).double()(1e-3 * torch.randn(50, 8, dtype=torch.float64) + 3)
    assert_close(z.mean(0), torch.zeros(6, dtype=torch.float64))
    assert (z.var(0, unbiased=False) > 0.05).all()


@pytest.mark.parametrize(("features", "latent_dim", "heads"), [(7, 6, 2), (8, 5, 2), (8, 6, 0), (8, 0, 1)])
def test_strands_must_be_equal(features: int, latent_dim: int, heads: int) -> None:
    with pytest.raises(ValueError, match=f"must divide the features and the embedding; got {heads} heads"):
        Projection(features, latent_dim, heads=heads)
