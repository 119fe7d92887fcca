"""Slopes, bounds and what is given in CVIB, src/unbraid/methods/cvib.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import NUISANCES, batch_for, loss, make
from unbraid.methods.cnn_beta_vae import CNNBetaVAE
from unbraid.methods.cvib import CVIB
from unbraid.objectives import pairwise_kl


@pytest.mark.parametrize(
    ("weight", "parts"),
    [("lambda_class", ["cross_entropy"]), ("beta", ["kl"]), ("lambda_invariance", ["nll", "pairwise_kl"])],
)
def test_raising_a_weight_by_one_adds_one_of_its_terms(weight: str, parts: list[str]) -> None:
    batch = batch_for(CVIB)
    low, high = (loss(make(CVIB, **{weight: value}), batch) for value in (1.0, 2.0))
    assert_close(high.total - low.total, torch.stack([low.by_name[part] for part in parts]).sum())


def test_the_divergence_is_that_between_the_posteriors() -> None:
    method, batch = make(CVIB), batch_for(CVIB)
    assert_close(loss(method, batch).by_name["pairwise_kl"], pairwise_kl(method.posterior(batch.x)))


def test_the_decoder_is_given_the_nuisances_and_the_encoder_is_not() -> None:
    method, batch = make(CVIB), batch_for(CVIB)
    method.loss(batch)  # which shows it the values
    codes = method.encode(batch.x, batch.nuisances)
    assert_close(codes, method.encode(batch.x))
    assert_close(method.predict(batch.x, batch.nuisances), method.predict(batch.x))
    vectors = method.nuisances(batch.nuisances, codes)
    assert vectors.shape == (8, sum(NUISANCES)) and (vectors.sum(1) == 2).all()
    expected = method.likelihood.mean(method.decoder(torch.cat([codes, vectors], 1)))
    assert_close(method.decode(codes, batch.nuisances), expected)


def test_unseen_values_and_none_given_decode_alike() -> None:
    method, batch = make(CVIB), batch_for(CVIB)
    method.loss(batch)
    codes = method.encode(batch.x)
    unseen = torch.full_like(batch.nuisances, 99)
    assert_close(method.decode(codes, unseen), method.decode(codes))
    assert not torch.equal(method.decode(codes, batch.nuisances), method.decode(codes))


def test_networks_fit_the_nuisances() -> None:
    method = make(CVIB)
    assert method.decoder.latent_dim == make(CNNBetaVAE).decoder.latent_dim + sum(NUISANCES)
