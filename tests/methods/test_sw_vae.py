"""Limits, slopes and a slow rewriting of SW-VAE, src/unbraid/methods/sw_vae.py."""

import math

import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import CODES, Formula, Itself, batch_for, images, loss, make, without_noise
from unbraid.methods.sw_vae import SWVAE
from unbraid.methods.vae import VAE
from unbraid.objectives import Normal
from unbraid.schedules import Linear
from unbraid.types import Batch, PairBatch


def test_raising_the_weight_by_one_adds_one_swapped_error() -> None:
    batch = batch_for(SWVAE)
    low, high = (loss(make(SWVAE, lambda_swap=swap), batch) for swap in (1.0, 2.0))
    assert_close(high.total - low.total, low.by_name["swap"])


def test_without_the_swap_it_is_the_vae_on_both_images() -> None:
    x, k = images(), torch.ones(8, dtype=torch.long)
    pair = loss(make(SWVAE, lambda_swap=0.0), PairBatch(x, x, k))
    alone = loss(make(VAE), Batch(torch.cat([x, x])))
    assert_close(pair.total, alone.total)


def test_with_k_equal_to_the_number_of_codes_nothing_is_swapped() -> None:
    batch = batch_for(SWVAE)._replace(k=torch.full((8,), CODES))
    assert_close(loss(make(SWVAE), batch).by_name["swap"].item(), 0.0)


def test_the_warm_up_by_amount_follows_the_step() -> None:
    method, batch = make(SWVAE, swap_schedule=Linear(0.0, 1.0, 10)), batch_for(SWVAE)
    early = loss(method, batch).by_name["swap"]
    method.step += 10
    late = loss(method, batch).by_name["swap"]
    assert_close(late, loss(make(SWVAE), batch).by_name["swap"])
    assert not torch.equal(early, late)


def test_the_divergence_decides_what_is_swapped() -> None:
    batch = batch_for(SWVAE)._replace(k=torch.full((8,), 2))
    found = {
        loss(make(SWVAE, divergence=name), batch).by_name["swap"].item()
        for name in ("kl", "jsd", "jsd-moments")
    }
    assert len(found) > 1


def test_equation_6_by_hand() -> None:
    """Two pixels, two codes that are the pixels, variances 1 and no noise; a code (a, b) is decoded to (a², ab + 1).

    x^l = (0, 0) and x^m = (1, 3) differ by ½ 1² and ½ 3² nats (Eq. 3). So with k = 1 the second code stays, and the
    first is exchanged: (1, 0) and (0, 3).

        x_rec      (0, 1) and (1, 4): each misses its image by 1 in one pixel
        L_VAE      ½ + log 2π, and ½ + log 2π + ½ (1² + 3²)
        x̂          (1, 1) and (0, 1)
        D(x̂, x_rec)  over 2σ² = 2, as the likelihood: ½ 1², and ½ (1² + 3²) = 5

    Eq. 6 is 6 + 2 log 2π + 5.5, and per image half of it.
    """
    decoder = Formula(lambda z: torch.stack([z[:, 0] ** 2, z[:, 0] * z[:, 1] + 1], 1))
    method = SWVAE(Itself(2), decoder, lambda_swap=1.0, likelihood=Normal(1.0))
    x = torch.tensor([[[0.0, 0.0]], [[1.0, 3.0]]], dtype=torch.float64)
    with without_noise():
        found = method.loss(PairBatch(x[0], x[1], torch.tensor([1])))
    expected = {"nll": 0.5 + math.log(2 * math.pi), "kl": 2.5, "swap": 2.75}
    assert_close({name: part.item() for name, part in found.by_name.items()}, expected)
    assert_close(found.total.item(), 5.75 + math.log(2 * math.pi))


def test_slow_rewriting() -> None:
    method, batch = (
        make(SWVAE, lambda_swap=2.0, beta=3.0),
        batch_for(SWVAE)._replace(k=torch.tensor([1, 2] * 4)),
    )
    torch.manual_seed(2)
    noise = torch.randn(2, 8, CODES, dtype=torch.float64)
    total = 0.0
    for row in range(8):
        x = [batch.x1[row], batch.x2[row]]
        q = [method.posterior(image[None]) for image in x]
        mu, var = [p.mean[0].tolist() for p in q], [p.logvar[0].exp().tolist() for p in q]
        delta = [
            (var[0][j] + (mu[0][j] - mu[1][j]) ** 2) / (2 * var[1][j])
            + 0.5 * math.log(var[1][j] / var[0][j])
            - 0.5
            for j in range(CODES)
        ]
        z = [
            [mu[i][j] + math.sqrt(var[i][j]) * noise[i, row, j].item() for j in range(CODES)]
            for i in range(2)
        ]
        changed = sorted(range(CODES), key=lambda j: delta[j])[CODES - int(batch.k[row]) :]
        for i in range(2):
            hat = [z[i][j] if j in changed else z[1 - i][j] for j in range(CODES)]
            logits = method.decoder(torch.tensor([z[i]], dtype=torch.float64))[0]
            swapped = method.decoder(torch.tensor([hat], dtype=torch.float64))[0]
            kl = sum(0.5 * (mu[i][j] ** 2 + var[i][j] - math.log(var[i][j]) - 1) for j in range(CODES))
            nll = F.binary_cross_entropy_with_logits(logits, x[i], reduction="sum").item()
            d = (swapped.sigmoid() - logits.sigmoid()).square().sum().item()
            total += (nll + 3.0 * kl + 2.0 * d) / 16
    assert_close(loss(method, batch).total.item(), total)
