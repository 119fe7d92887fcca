"""Limits and game of the symmetric VAE, src/unbraid/methods/svae.py."""

import torch
from torch.testing import assert_close

from tests.tiny import batches_remembered, images, larger_images, loss, make, normalized
from unbraid.methods import SVAE, VAE
from unbraid.methods.base import build_method
from unbraid.nn import JointCritic
from unbraid.objectives import Pixels, code_nll
from unbraid.types import Batch, Gaussian

BATCH = Batch(images())


def test_without_the_reverse_it_is_the_vae() -> None:
    torch.manual_seed(2)
    reference = make(VAE, likelihood=Pixels())
    assert_close(loss(make(SVAE, lambda_reverse_kl=0.0), BATCH).total, loss(reference, BATCH).total)


def test_the_reverse_divergence_enters_with_its_weight() -> None:
    low, high = (loss(make(SVAE, lambda_reverse_kl=reverse), BATCH) for reverse in (1.0, 2.0))
    assert_close(high.total - low.total, low.by_name["ratio"] + low.by_name["codes"])


def test_the_generating_code_is_recovered_from_its_image() -> None:
    method = make(SVAE)
    parts = loss(method, BATCH).by_name
    torch.manual_seed(2)
    z = method.posterior(BATCH.x).sample()
    made_from = torch.randn_like(z)
    x = method.decode(made_from)
    assert_close(parts["codes"], code_nll(method.posterior(x), made_from))
    logits = method.critic(x, made_from)
    assert_close(parts["ratio"], (logits[:, 1] - logits[:, 0]).mean())


def test_the_critic_trains_the_decoder_and_the_codes_train_the_encoder() -> None:
    method = make(SVAE)
    parts = loss(method, BATCH).by_name
    networks = list(method.encoder.parameters()), list(method.decoder.parameters())
    found = torch.autograd.grad(parts["codes"], networks[1], allow_unused=True, retain_graph=True)
    assert all(gradient is None for gradient in found)
    found = torch.autograd.grad(parts["codes"], networks[0], retain_graph=True)
    assert all(gradient.any() for gradient in found)
    ratio = torch.autograd.grad(parts["ratio"], networks[0], allow_unused=True, retain_graph=True)
    assert not any(gradient is not None and gradient.any() for gradient in ratio)
    assert all(gradient.any() for gradient in torch.autograd.grad(parts["ratio"], networks[1]))


def test_the_critics_gradients_stay_on_their_side() -> None:
    method = make(SVAE)
    outside = [*method.encoder.parameters(), *method.decoder.parameters()]
    gradients = torch.autograd.grad(method.critic_loss(BATCH).total, outside, allow_unused=True)
    assert all(gradient is None for gradient in gradients)


def test_it_is_assembled_with_a_joint_critic() -> None:
    method = build_method(SVAE, (3, 28, 28), n=10, latent_dim=7)
    assert isinstance(method.critic, JointCritic) and method.critic.latent_dim == 7


def test_code_nll_is_least_at_the_codes() -> None:
    z = torch.randn(4, 3)
    near, far = (code_nll(Gaussian(z + shift, torch.zeros_like(z)), z) for shift in (0.0, 1.0))
    assert_close(far - near, torch.tensor(1.5))


def test_running_statistics_are_of_the_data_alone() -> None:
    """Neither generated images nor the inputs of the critic are included."""
    method, batch = normalized(SVAE), Batch(larger_images())
    method.loss(batch)
    method.critic_loss(batch)
    assert batches_remembered(method) == {1}
