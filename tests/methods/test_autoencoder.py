"""What the autoencoders share, src/unbraid/methods/autoencoder.py."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tests.tiny import CODES, images, make
from unbraid.methods import VAE
from unbraid.objectives import Normal


def test_the_code_is_the_posterior_mean() -> None:
    method, x = make(VAE), images()
    assert_close(method.encode(x), method.posterior(x).mean)
    assert method.strands.default == "codes" and method.strands.size == CODES


def test_decoding_gives_the_mean_of_the_likelihood() -> None:
    z = torch.randn(3, CODES, dtype=torch.float64)
    bernoulli, normal = make(VAE), make(VAE, likelihood=Normal(0.5))
    assert_close(bernoulli.decode(z), bernoulli.decoder(z).sigmoid())
    assert_close(normal.decode(z), normal.decoder(z))


def test_two_posteriors_come_from_one_forward() -> None:
    method, x1, x2 = make(VAE), images(seed=1), images(seed=2)
    calls = []
    method.encoder.register_forward_hook(lambda *_: calls.append(1))
    q1, q2 = method.posteriors(x1, x2)
    assert len(calls) == 1
    assert_close((q1, q2), (method.posterior(x1), method.posterior(x2)))


def test_an_encoder_without_latent_dim_is_refused() -> None:
    with pytest.raises(ValueError, match=r"needs an attribute `latent_dim`.*Linear has none"):
        VAE(nn.Linear(2, 2), nn.Linear(2, 2))
