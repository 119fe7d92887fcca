"""GIN's classes as Gaussians, src/unbraid/methods/gin.py."""

import math

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import batch_for, images, loss, make
from unbraid.methods.gin import GIN
from unbraid.nn import RowFlow
from unbraid.types import Batch


def test_the_loss_by_hand() -> None:
    """A flow that is a permutation; class 0 is {(0, 0), (2, 4)}, class 1 is {(7, 7)}, whose spreads are the floor."""
    method = GIN(RowFlow((2,), blocks=1), classes=2, noise=0.0, min_sigma=0.1).double()
    x = torch.tensor([[0.0, 0.0], [7.0, 7.0], [2.0, 4.0]], dtype=torch.float64)
    class0, class1 = 2 * 0.5 + math.log(1) + math.log(2), 2 * math.log(0.1)
    expected = (2 * class0 + class1) / 3 + math.log(2 * math.pi)
    assert_close(method.loss(Batch(x, torch.tensor([0, 1, 0]))).total.item(), expected)


def test_learned_moments_start_at_the_standard_normal() -> None:
    method, batch = make(GIN, moments="learned", noise=0.0), batch_for(GIN)
    z = method.encode(batch.x)
    expected = 0.5 * z.square().sum(1).mean() + 4.5 * math.log(2 * math.pi)
    assert_close(loss(method, batch).total, expected)


def test_the_batch_s_moments_are_the_likeliest() -> None:
    own, learned, batch = make(GIN, noise=0.0), make(GIN, moments="learned", noise=0.0), batch_for(GIN)
    learned.load_state_dict(own.state_dict(), strict=False)
    z, labels = own.encode(batch.x), batch.labels
    with torch.no_grad():
        for label in range(3):
            members = z[labels == label]
            if len(members):
                learned.mu[label] = members.mean(0)
                learned.log_sigma[label] = members.std(0, correction=0).clamp(min=1e-4).log()
    assert_close(loss(learned, batch).total, loss(own, batch).total)
    with torch.no_grad():
        learned.mu += 0.1
    assert loss(learned, batch).total > loss(own, batch).total


def test_learned_moments_get_a_gradient() -> None:
    method, batch = make(GIN, moments="learned"), batch_for(GIN, 16)
    gradients = torch.autograd.grad(loss(method, batch).total, list(method.parameters()))
    assert all(gradient.isfinite().all() and gradient.any() for gradient in gradients)


def test_missing_classes_are_an_error() -> None:
    with pytest.raises(
        ValueError, match=r"at least 2 classes; got 0\. Use a dataset with labels, or augmented-gin"
    ):
        GIN(RowFlow((3,)), classes=0)
    with pytest.raises(ValueError, match="requires labels, and the batch has none"):
        make(GIN).loss(Batch(images()))
