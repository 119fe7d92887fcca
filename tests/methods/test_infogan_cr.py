"""InfoGAN-CR and when its regularizer counts, src/unbraid/methods/infogan_cr.py."""

import math

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.tiny import batch_for, images, loss, make
from unbraid.methods import InfoGANCR
from unbraid.schedules import Constant, StepDecay
from unbraid.training.step import TrainingStep


def test_the_regularizer_counts_from_its_start_on() -> None:
    method, batch = make(InfoGANCR, contrast_start_step=5), batch_for(InfoGANCR)
    early = loss(method, batch)
    assert_close(early.total, early.by_name["generator"] + 0.05 * early.by_name["information"])
    method.step += 5
    late = loss(method, batch)
    assert_close(late.total - early.total, 2.0 * late.by_name["contrast"])
    assert TrainingStep(method).active_players(4) == ("generator", "discriminator")
    assert TrainingStep(method).active_players(5) == ("generator", "discriminator", "critic")


def watched(method: InfoGANCR, monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The latents that the generator is given."""
    seen: list[Tensor] = []
    made = method.generate
    monkeypatch.setattr(method, "generate", lambda z: (seen.append(z), made(z))[1])
    return seen


def test_pairs_share_one_code_and_their_noise_and_the_answer_says_which(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method = make(InfoGANCR)
    seen = watched(method, monkeypatch)
    shared = method.pairs(images(300))[2]
    z1, z2 = seen[0].chunk(2)
    same = z1 == z2
    assert torch.equal(same[:, :3], shared.bool()) and same[:, 3].all()
    assert (shared.sum(1) == 1).all() and (shared.sum(0) > 70).all()


@pytest.mark.parametrize("gap", [0.5, 1.9])
def test_codes_that_are_not_shared_lie_apart(gap: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the gap of the step, and all of them between -1 and 1; afterwards anywhere."""
    method = make(InfoGANCR, min_gap_schedule=StepDecay(gap, 0.0, 5))
    seen = watched(method, monkeypatch)
    method.pairs(images(500))
    z1, z2 = (z[:, :3] for z in seen[0].chunk(2))
    distance = (z1 - z2).abs()
    assert ((distance >= gap - 1e-9) | (z1 == z2)).all() and (distance[z1 != z2] > gap + 0.02).any()
    assert torch.stack([z1, z2]).abs().max() <= 1
    assert (z1 > z2).any() and (z1 < z2).any()
    method.step += 5
    method.pairs(images(500))
    z1, z2 = (z[:, :3] for z in seen[1].chunk(2))
    assert ((z1 - z2).abs()[z1 != z2] < 0.1).any()


def test_a_critic_that_guesses_costs_log_of_the_number_of_codes() -> None:
    method = make(InfoGANCR)
    with torch.no_grad():
        for parameter in method.critic.logits.parameters():
            parameter.zero_()
    assert_close(method.critic_loss(batch_for(InfoGANCR)).total.item(), math.log(3))


def test_no_gradient_of_the_critic_s_loss_reaches_the_generator() -> None:
    method = make(InfoGANCR)
    method.critic_loss(batch_for(InfoGANCR)).total.backward()
    assert all(parameter.grad is None for parameter in method.generator.parameters())
    assert any(parameter.grad is not None for parameter in method.critic.parameters())


def test_generator_and_critic_work_together() -> None:
    """Both minimize the same cross-entropy: the generator's gradient of it is that of its own loss."""
    method, batch = make(InfoGANCR, lambda_info=0.0, lambda_contrast=3.0), batch_for(InfoGANCR)
    terms = loss(method, batch)
    assert_close(terms.total - terms.by_name["generator"], 3.0 * terms.by_name["contrast"])


def test_bad_settings() -> None:
    for gap in (2.0, -0.5):
        with pytest.raises(ValueError, match=rf"min_gap_schedule in \[0, 2\); got 0 and {gap:g}"):
            make(InfoGANCR, min_gap_schedule=Constant(gap))
    with pytest.raises(ValueError, match=r"contrast_start_step must be at least 0.*got -1"):
        make(InfoGANCR, contrast_start_step=-1)
