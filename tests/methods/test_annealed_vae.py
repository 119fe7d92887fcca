"""The capacity of the AnnealedVAE, src/unbraid/methods/annealed_vae.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import images, loss, make
from unbraid.methods.annealed_vae import AnnealedVAE
from unbraid.methods.beta_vae import BetaVAE
from unbraid.schedules import Constant
from unbraid.types import Batch


@pytest.mark.parametrize(("step", "capacity"), [(0, 0.0), (50_000, 12.5), (100_000, 25.0), (300_000, 25.0)])
def test_the_divergence_is_drawn_to_the_capacity_of_the_step(step: int, capacity: float) -> None:
    """By default from 0 to 25 nats over 100,000 steps, with γ = 1000."""
    method = make(AnnealedVAE)
    method.step.fill_(step)
    terms = loss(method, Batch(images()))
    assert_close(terms.by_name["distance"], (terms.by_name["kl"] - capacity).abs())
    assert_close(terms.total, terms.by_name["nll"] + 1000 * terms.by_name["distance"])


def test_without_capacity_it_is_the_beta_vae() -> None:
    batch = Batch(images())
    annealed = make(AnnealedVAE, gamma=4.0, capacity=Constant(0.0))
    assert_close(loss(annealed, batch).total, loss(make(BetaVAE, beta=4.0), batch).total)


def test_below_the_capacity_the_divergence_is_pushed_up() -> None:
    batch = Batch(images())
    low, high = (make(AnnealedVAE, gamma=1.0, capacity=Constant(c)) for c in (0.0, 1000.0))
    difference = loss(low, batch).total + loss(high, batch).total - 2 * loss(low, batch).by_name["nll"]
    assert_close(difference.item(), 1000.0)  # kl + (1000 - kl)


def test_the_step_is_saved() -> None:
    method = make(AnnealedVAE)
    method.step += 123
    other = make(AnnealedVAE)
    other.load_state_dict(method.state_dict())
    assert torch.equal(other.step, torch.tensor(123))
