"""InfoGAN, src/unbraid/methods/infogan.py."""

import torch
from torch.testing import assert_close

from tests.tiny import batch_for, loss, make
from unbraid.methods import InfoGAN


def test_raising_the_weight_by_one_adds_one_error_on_both_sides() -> None:
    method, batch = make(InfoGAN), batch_for(InfoGAN)
    low = loss(method, batch)
    method.lambda_info += 1
    high = loss(method, batch)
    assert_close(high.total - low.total, low.by_name["information"])
    method.lambda_info -= 1
    torch.manual_seed(0)
    low = method.discriminator_loss(batch)
    method.lambda_info += 1
    torch.manual_seed(0)
    high = method.discriminator_loss(batch)
    assert_close(high.total - low.total, low.by_name["information"])


def test_the_generator_moves_twice_in_a_step_at_the_authors_rates() -> None:
    generator, discriminator = make(InfoGAN).players()
    assert (generator.updates_per_step, discriminator.updates_per_step) == (2, 1)
    assert (generator.optimizer.lr, discriminator.optimizer.lr) == (1e-3, 2e-3)
