"""Identities of β-TCVAE, src/unbraid/methods/beta_tcvae.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import N, images, loss, make
from unbraid.methods.beta_tcvae import BetaTCVAE
from unbraid.methods.vae import VAE
from unbraid.objectives import total_correlation
from unbraid.objectives.total_correlation import Sampling
from unbraid.types import Batch

either_sampling = pytest.mark.parametrize("sampling", ["weighted", "stratified"])


@either_sampling
def test_beta_one_is_the_vae(sampling: Sampling) -> None:
    batch = Batch(images())
    assert_close(
        loss(make(BetaTCVAE, beta=1.0, sampling=sampling), batch).total, loss(make(VAE), batch).total
    )


@either_sampling
def test_raising_beta_by_one_adds_one_total_correlation(sampling: Sampling) -> None:
    """And no divergence: elsewhere β weighs both."""
    batch = Batch(images())
    low, high = (loss(make(BetaTCVAE, beta=beta, sampling=sampling), batch) for beta in (4.0, 5.0))
    assert_close(high.total - low.total, low.by_name["tc"])


@either_sampling
def test_total_correlation_is_of_the_codes_that_are_decoded(sampling: Sampling) -> None:
    method, x = make(BetaTCVAE, sampling=sampling), images()
    terms = loss(method, Batch(x))
    torch.manual_seed(2)
    q = method.posterior(x)
    assert_close(terms.by_name["tc"], total_correlation(q.sample(), q, N, sampling=sampling))


def test_a_dataset_has_at_least_one_image() -> None:
    method = make(BetaTCVAE)
    with pytest.raises(ValueError, match="n, the number of images in the dataset, must be at least 1; got 0"):
        BetaTCVAE(method.encoder, method.decoder, n=0)
