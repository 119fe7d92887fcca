"""A slow rewriting of the adaptive VAEs, row by row and dimension by dimension."""

import math
from collections.abc import Callable

import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import CODES, batch_for, loss, make
from unbraid.methods.adaptive_vae import AdaptiveVAE

Average = Callable[[float, float, float, float], tuple[float, float]]  # means and variances to their average


def check_against_slow_rewriting(cls: type[AdaptiveVAE], average: Average) -> None:
    """Compares the loss with one that averages, by `average`, the dimensions that changed less than the threshold."""
    method, batch = make(cls, beta=2.0), batch_for(cls)
    torch.manual_seed(2)
    noise = torch.randn(2, 8, CODES, dtype=torch.float64)
    total = 0.0
    for row in range(8):
        x = [batch.x1[row], batch.x2[row]]
        posteriors = [method.posterior(image[None]) for image in x]
        mu = [q.mean[0].tolist() for q in posteriors]
        var = [q.logvar[0].exp().tolist() for q in posteriors]
        delta = [
            (
                var[0][j] / var[1][j]
                + (mu[0][j] - mu[1][j]) ** 2 / var[1][j]
                - 1
                + math.log(var[1][j] / var[0][j])
            )
            / 2
            for j in range(CODES)
        ]
        for j in range(CODES):
            if delta[j] < (max(delta) + min(delta)) / 2:
                mean, variance = average(mu[0][j], mu[1][j], var[0][j], var[1][j])
                mu[0][j] = mu[1][j] = mean
                var[0][j] = var[1][j] = variance
        for i in range(2):
            z = [mu[i][j] + math.sqrt(var[i][j]) * noise[i, row, j].item() for j in range(CODES)]
            logits = method.decoder(torch.tensor([z], dtype=torch.float64))[0]
            nll = F.binary_cross_entropy_with_logits(logits, x[i], reduction="sum").item()
            kl = sum((mu[i][j] ** 2 + var[i][j] - math.log(var[i][j]) - 1) / 2 for j in range(CODES))
            total += (nll + 2.0 * kl) / 2 / 8
    assert_close(loss(method, batch).total.item(), total)
