"""The VAE by hand and by a slow rewriting, src/unbraid/methods/vae.py."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.tiny import images, loss, make
from unbraid.methods.vae import VAE
from unbraid.nn import build_networks
from unbraid.objectives import Normal
from unbraid.types import Batch, Gaussian


class Constant(nn.Module):
    """A custom encoder with one posterior for every image."""

    latent_dim = 2

    def __init__(self, mean: float, variance: float) -> None:
        super().__init__()
        self.mean, self.logvar = mean, math.log(variance)

    def forward(self, x: Tensor) -> Gaussian:
        return Gaussian(x.new_full((len(x), 2), self.mean), x.new_full((len(x), 2), self.logvar))


class Gray(nn.Module):
    """A custom decoder whose logits are all zero."""

    def forward(self, z: Tensor) -> Tensor:
        return z.new_zeros(len(z), 1, 3, 3)


def test_by_hand() -> None:
    """Nine gray pixels cost log 2 each; each of two codes costs ½(9 + 4 - 1 - log 4)."""
    terms = VAE(Constant(3.0, 4.0), Gray()).loss(Batch(images()))
    assert_close(terms.by_name["nll"].item(), 9 * math.log(2))
    assert_close(terms.by_name["kl"].item(), 12 - math.log(4))
    assert_close(terms.total, terms.by_name["nll"] + terms.by_name["kl"])


def test_slow_rewriting() -> None:
    vae, x = make(VAE), images()
    torch.manual_seed(2)
    noise = torch.randn(8, 4, dtype=torch.float64)
    total = 0.0
    for image, e in zip(x, noise, strict=True):
        mean, logvar = (row[0] for row in vae.encoder(image[None]))
        p = vae.decoder((mean + logvar.exp().sqrt() * e)[None])[0].sigmoid()
        total -= (image * p.log() + (1 - image) * (1 - p).log()).sum().item() / 8
        total += (
            sum(
                (m**2 + math.exp(lv) - lv - 1) / 2
                for m, lv in zip(mean.tolist(), logvar.tolist(), strict=True)
            )
            / 8
        )
    assert_close(loss(vae, Batch(x)).total.item(), total)


def test_a_normal_likelihood() -> None:
    """A decoder that puts out zeros: x²/2σ² a pixel and the normalizer."""
    vae, x = VAE(Constant(0.0, 1.0), Gray(), likelihood=Normal(0.5)), images()
    expected = 2 * x.square().sum().item() / 8 + 9 * (math.log(0.5) + math.log(2 * math.pi) / 2)
    assert_close(vae.loss(Batch(x)).total.item(), expected)
    assert_close(vae.decode(torch.zeros(1, 2)), torch.zeros(1, 1, 3, 3))


def test_an_encoder_without_latent_dim_is_refused() -> None:
    with pytest.raises(ValueError, match=r"needs an attribute `latent_dim`.*Gray has none"):
        VAE(Gray(), Gray())


def test_rows() -> None:
    vae = VAE(*build_networks("mlp", (7,), 3), likelihood=Normal())
    assert vae.loss(Batch(torch.randn(5, 7))).total.isfinite()
