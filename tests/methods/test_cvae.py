"""Limits, game and the authors' joint form of the cVAE, src/unbraid/methods/cvae.py."""

import torch
from torch.testing import assert_close

from tests.tiny import batches_remembered, images, larger_images, loss, make, normalized
from unbraid.methods import CVAE, ContrastVAE
from unbraid.methods.base import build_method
from unbraid.training.step import TrainingStep
from unbraid.types import ContrastBatch

BATCH = ContrastBatch(images(seed=1), images(seed=2))


def test_gamma_zero_is_the_contrast_vae() -> None:
    assert_close(loss(make(CVAE, gamma=0.0), BATCH).total, loss(make(ContrastVAE, beta=1.0), BATCH).total)


def test_raising_gamma_by_one_adds_one_total_correlation() -> None:
    low, high = (loss(make(CVAE, gamma=gamma), BATCH) for gamma in (4.0, 5.0))
    assert_close(high.total - low.total, low.by_name["tc"])


def test_the_critic_sees_target_codes_and_codes_with_another_image_s_salient_strand() -> None:
    method, seen = make(CVAE), []
    forward = method.critic.forward
    method.critic.forward = lambda z: seen.append(z) or forward(z)  # type: ignore[method-assign, func-returns-value]
    torch.manual_seed(5)
    method.critic_loss(BATCH)
    codes, mixed = seen[0].chunk(2)
    torch.manual_seed(5)
    assert_close(codes, method.posterior(BATCH.target).sample())
    assert_close(mixed[:, :2], codes[:, :2])
    partner = (mixed[:, None, 2:] == codes[None, :, 2:]).all(2).long().argmax(1)
    assert_close(mixed[:, 2:], codes[partner, 2:])  # both salient codes from the same other image
    assert sorted(partner.tolist()) == list(range(8)) and partner.tolist() != list(range(8))


def test_gradients_of_the_critics_stay_on_their_side() -> None:
    method = make(CVAE)
    outside = [*method.encoder.parameters(), *method.decoder.parameters()]
    gradients = torch.autograd.grad(method.critic_loss(BATCH).total, outside, allow_unused=True)
    assert all(gradient is None for gradient in gradients)
    autoencoder, critic = method.players()
    assert not {*autoencoder.parameters} & {*critic.parameters}


def test_the_critic_sees_the_codes_of_the_autoencoder_s_move() -> None:
    method, seen = make(CVAE), []
    forward = method.critic.forward
    method.critic.forward = lambda z: seen.append(z.detach()) or forward(z)  # type: ignore[method-assign, func-returns-value]
    TrainingStep(method).run(lambda: BATCH, 0)
    learned_from, told_apart = seen
    assert_close(told_apart[:8], learned_from, rtol=0, atol=0)
    assert not loss(method, BATCH).cached[0].requires_grad


def test_running_statistics_are_of_target_and_background_joined() -> None:
    method, batch = normalized(CVAE), ContrastBatch(larger_images(seed=1), larger_images(seed=2))
    method.loss(batch)
    first = method.encoder.trunk[0](torch.cat(batch[:2]))
    assert_close(method.encoder.trunk[1].running_mean, 0.1 * first.mean((0, 2, 3)))
    method.critic_loss(batch)
    assert batches_remembered(method) == {1}


def test_the_joint_form_has_one_player_and_a_linear_critic() -> None:
    method = build_method(CVAE, (3, 28, 28), n=10, joint=True)
    (player,) = method.players()
    assert len(list(method.critic.parameters())) == 2
    assert set(player.parameters) == set(method.parameters())
    terms = loss(make(CVAE, joint=True), BATCH)
    assert_close(terms.total, sum(terms.by_name.values()))  # β = γ = 1, and the critic's error


def test_a_linear_critic_cannot_separate_mixed_codes() -> None:
    """Mixing keeps the mean of every code, so the best linear critic of infinitely many codes is a guess."""
    torch.manual_seed(0)
    s = torch.randn(4000, 1, dtype=torch.float64)
    codes = torch.cat([s, s], 1)  # as dependent as can be
    mixed = torch.cat([s, s[torch.randperm(4000)]], 1)
    logistic = torch.nn.Linear(2, 1).double()
    optimizer = torch.optim.LBFGS(logistic.parameters(), max_iter=50)
    x, y = torch.cat([codes, mixed]), torch.cat([torch.ones(4000), torch.zeros(4000)])[:, None].double()

    def error() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logistic(x), y)
        loss.backward()
        return loss

    optimizer.step(error)
    assert_close(error().item(), 0.6931, atol=1e-3, rtol=0)
