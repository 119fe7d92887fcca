"""Limits, slopes and a slow rewriting of DIP-VAE-I, src/unbraid/methods/dip_vae_i.py."""

from torch.testing import assert_close

from tests.tiny import CODES, images, loss, make
from unbraid.methods.dip_vae_i import DIPVAEI
from unbraid.methods.vae import VAE
from unbraid.types import Batch


def test_without_weights_it_is_the_vae() -> None:
    batch = Batch(images())
    plain = make(DIPVAEI, lambda_od=0.0, lambda_d=0.0)
    assert_close(loss(plain, batch).total, loss(make(VAE), batch).total)


def test_each_weight_adds_its_own_penalty() -> None:
    batch = Batch(images())
    base = loss(make(DIPVAEI, lambda_od=2.0, lambda_d=3.0), batch)
    more_od = loss(make(DIPVAEI, lambda_od=3.0, lambda_d=3.0), batch)
    more_d = loss(make(DIPVAEI, lambda_od=2.0, lambda_d=4.0), batch)
    assert_close(more_od.total - base.total, base.by_name["off_diagonal"])
    assert_close(more_d.total - base.total, base.by_name["diagonal"])


def test_slow_rewriting() -> None:
    """E[μ_i μ_j] - E[μ_i] E[μ_j] over the batch, entry by entry."""
    method, x = make(DIPVAEI), images()
    rows = method.encode(x).tolist()
    od = d = 0.0
    for i in range(CODES):
        for j in range(CODES):
            together = sum(row[i] * row[j] for row in rows) / 8
            entry = together - sum(row[i] for row in rows) / 8 * sum(row[j] for row in rows) / 8
            od, d = (od, d + (entry - 1) ** 2) if i == j else (od + entry**2, d)
    parts = loss(method, Batch(x)).by_name
    assert_close([parts["off_diagonal"].item(), parts["diagonal"].item()], [od, d])
