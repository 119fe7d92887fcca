"""Limits, slopes and a slow rewriting of DIP-VAE-II, src/unbraid/methods/dip_vae_ii.py."""

from torch.testing import assert_close

from tests.tiny import CODES, images, loss, make
from unbraid.methods.dip_vae_i import DIPVAEI
from unbraid.methods.dip_vae_ii import DIPVAEII
from unbraid.methods.vae import VAE
from unbraid.types import Batch


def test_without_weights_it_is_the_vae() -> None:
    batch = Batch(images())
    plain = make(DIPVAEII, lambda_od=0.0, lambda_d=0.0)
    assert_close(loss(plain, batch).total, loss(make(VAE), batch).total)


def test_each_weight_adds_its_own_penalty() -> None:
    batch = Batch(images())
    base = loss(make(DIPVAEII, lambda_od=2.0, lambda_d=3.0), batch)
    more_od = loss(make(DIPVAEII, lambda_od=3.0, lambda_d=3.0), batch)
    more_d = loss(make(DIPVAEII, lambda_od=2.0, lambda_d=4.0), batch)
    assert_close(more_od.total - base.total, base.by_name["off_diagonal"])
    assert_close(more_d.total - base.total, base.by_name["diagonal"])


def test_slow_rewriting() -> None:
    """The covariance of the means, and on its diagonal the mean of the variances."""
    method, x = make(DIPVAEII), images()
    q = method.posterior(x)
    rows, variances = q.mean.tolist(), q.logvar.exp().tolist()
    od = d = 0.0
    for i in range(CODES):
        for j in range(CODES):
            together = sum(row[i] * row[j] for row in rows) / 8
            entry = together - sum(row[i] for row in rows) / 8 * sum(row[j] for row in rows) / 8
            if i == j:
                d += (entry + sum(row[i] for row in variances) / 8 - 1) ** 2
            else:
                od += entry**2
    parts = loss(method, Batch(x)).by_name
    assert_close([parts["off_diagonal"].item(), parts["diagonal"].item()], [od, d])


def test_off_the_diagonal_it_is_type_i() -> None:
    batch = Batch(images())
    first, second = loss(make(DIPVAEI), batch).by_name, loss(make(DIPVAEII), batch).by_name
    assert_close(first["off_diagonal"], second["off_diagonal"])
