"""Limits, slope and game of the FactorVAE, src/unbraid/methods/factor_vae.py."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import CODES, images, loss, make
from unbraid.methods.factor_vae import FactorVAE
from unbraid.methods.vae import VAE
from unbraid.optimizers import Adam
from unbraid.types import Batch, Gaussian


class Recorder(nn.Module):
    """A critic that keeps what it was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(CODES, 2, dtype=torch.float64))
        self.seen: list[Tensor] = []

    def forward(self, z: Tensor) -> Tensor:
        self.seen.append(z)
        return z @ self.weight


def test_gamma_zero_is_the_vae() -> None:
    batch = Batch(images())
    assert_close(loss(make(FactorVAE, gamma=0.0), batch).total, loss(make(VAE), batch).total)


def test_raising_gamma_by_one_adds_one_total_correlation() -> None:
    batch = Batch(images())
    low, high = (loss(make(FactorVAE, gamma=gamma), batch) for gamma in (4.0, 5.0))
    assert_close(high.total - low.total, low.by_name["tc"])


def test_raising_beta_by_one_adds_one_kl() -> None:
    low, high = (loss(make(FactorVAE, beta=beta), Batch(images())) for beta in (1.0, 2.0))
    assert_close(high.total - low.total, low.by_name["kl"])


def test_total_correlation_is_what_the_critic_says_of_the_codes() -> None:
    method, x = make(FactorVAE), images()
    terms = loss(method, Batch(x))
    torch.manual_seed(2)
    logits = method.critic(method.posterior(x).sample())
    assert_close(terms.by_name["tc"], sum(a - b for a, b in logits) / len(x))


def test_critic_loss_never_reaches_the_encoder() -> None:
    """In three other libraries it does."""
    method = make(FactorVAE)
    total = method.critic_loss(Batch(images(seed=1)), Batch(images(seed=2))).total
    outside = [*method.encoder.parameters(), *method.decoder.parameters()]
    gradients = torch.autograd.grad(total, outside, allow_unused=True)
    assert all(gradient is None for gradient in gradients)


def test_the_encoder_learns_from_the_critic() -> None:
    method = make(FactorVAE)
    tc = loss(method, Batch(images())).by_name["tc"]
    gradients = torch.autograd.grad(tc, list(method.encoder.parameters()))
    assert all(gradient.any() for gradient in gradients)


def test_the_critic_sees_codes_of_one_batch_and_shuffled_codes_of_another() -> None:
    method = make(FactorVAE)
    method.critic = Recorder()
    first, second = images(seed=1), images(seed=2)
    torch.manual_seed(5)
    terms = method.critic_loss(Batch(first), Batch(second))
    original, shuffled = method.critic.seen[0].chunk(2)

    torch.manual_seed(5)
    assert_close(original, method.posterior(first).sample())
    other = method.posterior(second).sample()
    assert_close(shuffled.sort(0).values, other.sort(0).values)  # each code of the second batch, reordered
    orders = [
        tuple((shuffled[:, code, None] == other[:, code]).long().argmax(1).tolist()) for code in range(CODES)
    ]
    assert len(set(orders)) == CODES  # each in an order of its own

    labels = torch.tensor([0] * 8 + [1] * 8)
    logits = torch.cat([original, shuffled]) @ method.critic.weight
    assert_close(terms.total, F.cross_entropy(logits, labels))


def test_the_critic_learns_from_the_codes_of_the_autoencoder() -> None:
    method, x, other = make(FactorVAE), images(seed=1), images(seed=2)
    (z,) = loss(method, Batch(x)).cached
    assert not z.requires_grad
    torch.manual_seed(2)  # as in `loss`
    assert_close(z, method.posterior(x).sample())
    method.critic = Recorder()
    method.critic_loss(Batch(x), Batch(other), z)
    assert_close(method.critic.seen[0].chunk(2)[0], z)
    assert method.players()[1].reuses == method.players()[0].name


def test_players() -> None:
    method = make(FactorVAE)
    autoencoder, critic = method.players()
    assert autoencoder.optimizer == Adam(1e-4, 0.9, 0.999) and autoencoder.batches_per_update == 1
    assert critic.optimizer == Adam(1e-4, 0.5, 0.9) and critic.batches_per_update == 2
    assert set(critic.parameters) == set(method.critic.parameters())


def test_the_critic_learns_to_see_correlated_codes() -> None:
    """Two codes that copy each other: a trained critic finds a total correlation well above 0."""
    torch.manual_seed(0)
    method = make(FactorVAE)
    with torch.no_grad():
        heads = method.encoder.heads
        heads.weight[1:4], heads.bias[1:4] = heads.weight[0], heads.bias[0]  # type: ignore[index, union-attr]
        heads.weight[4:], heads.bias[4:] = 0.0, -6.0  # type: ignore[index, union-attr]
    optimizer = torch.optim.Adam(method.critic.parameters(), lr=1e-2)
    for step in range(200):
        optimizer.zero_grad()
        method.critic_loss(Batch(images(64, seed=step)), Batch(images(64, seed=1000 + step))).total.backward()
        optimizer.step()
    assert loss(method, Batch(images(64, seed=5000))).by_name["tc"] > 1.0


def test_strands_of_several_codes_are_shuffled_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    method = make(FactorVAE, feature_dim=2)
    assert dict(method.strands) == {"codes": (0, 1, 2, 3), "z0": (0, 1), "z1": (2, 3)}
    seen: list[Tensor] = []
    monkeypatch.setattr(method.critic, "forward", lambda z: seen.append(z) or z[:, :2])
    monkeypatch.setattr(Gaussian, "sample", lambda self: self.mean)
    x, other = Batch(images(8)), Batch(images(8, seed=7))
    method.critic_loss(x, other)
    shuffled, codes = seen[0][8:], method.encode(other.x)
    for part in (slice(0, 2), slice(2, 4)):
        rows = {tuple(row) for row in codes[:, part].tolist()}
        assert {tuple(row) for row in shuffled[:, part].tolist()} == rows  # pairs stay together
    assert not torch.equal(shuffled, codes)


def test_a_code_that_does_not_divide_is_refused() -> None:
    for dimensions in (3, 4, 0):
        with pytest.raises(ValueError, match=f"into at least two strands; got {dimensions}"):
            make(FactorVAE, feature_dim=dimensions)
