"""Limits and game of the sRb-VAE, src/unbraid/methods/srb_vae.py."""

import torch
from torch.testing import assert_close

from tests.tiny import batches_remembered, images, larger_images, loss, make, normalized
from unbraid.methods import RbVAE, SRbVAE
from unbraid.methods.base import build_method
from unbraid.objectives import code_nll
from unbraid.types import ContrastBatch

BATCH = ContrastBatch(images(seed=1), images(seed=2))


def test_without_the_reverse_it_is_the_rb_vae() -> None:
    assert_close(loss(make(SRbVAE, lambda_reverse_kl=0.0), BATCH).total, loss(make(RbVAE), BATCH).total)


def test_the_reverse_divergences_enter_with_their_weight() -> None:
    low, high = (loss(make(SRbVAE, lambda_reverse_kl=reverse), BATCH) for reverse in (1.0, 2.0))
    assert_close(high.total - low.total, low.by_name["ratio"] + low.by_name["codes"])


def test_generating_codes_are_recovered_from_their_images() -> None:
    """All dimensions of the target, and the common strand of the background; its salient strand is the reference."""
    method = make(SRbVAE)
    with torch.no_grad():
        method.s_r.copy_(torch.tensor([0.5, -0.5]))
    parts = loss(method, BATCH).by_name
    torch.manual_seed(2)
    method.elbo_terms(BATCH)
    c_x, c_y = torch.randn(2, 8, 4, dtype=torch.float64)
    x, y = method.decode(c_x), method.decode(method.background_codes(c_y))
    found = code_nll(method.posterior(x), c_x) + code_nll(
        method.strand_posterior(method.posterior(y), "common"), c_y[:, :2]
    )
    assert_close(parts["codes"], found)
    logits = torch.cat([method.critic(x, c_x), method.background_critic(y, c_y[:, :2])])
    assert_close(parts["ratio"], (logits[:, 1] - logits[:, 0]).sum() / 8)


def test_gradients_of_the_critics_stay_on_their_side() -> None:
    method = make(SRbVAE)
    autoencoder, critics = (list(player.parameters) for player in method.players())
    total = method.critic_loss(BATCH).total
    assert all(gradient is None for gradient in torch.autograd.grad(total, autoencoder, allow_unused=True))
    assert len(autoencoder) + len(critics) == len(list(method.parameters()))


def test_running_statistics_are_of_the_data_alone() -> None:
    """Neither generated images nor the inputs of the critics are included."""
    method, batch = normalized(SRbVAE), ContrastBatch(larger_images(seed=1), larger_images(seed=2))
    method.loss(batch)
    method.critic_loss(batch)
    assert batches_remembered(method) == {1}


def test_one_critic_per_dataset() -> None:
    method = build_method(SRbVAE, (3, 28, 28), n=10, common_dim=5, salient_dim=3)
    assert (method.critic.latent_dim, method.background_critic.latent_dim) == (8, 5)
