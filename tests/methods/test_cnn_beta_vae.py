"""Limits and slopes of the CNN with a β-VAE, src/unbraid/methods/cnn_beta_vae.py."""

import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import batch_for, loss, make
from unbraid.methods.beta_vae import BetaVAE
from unbraid.methods.cnn_beta_vae import CNNBetaVAE


def test_without_prediction_it_is_the_beta_vae() -> None:
    batch = batch_for(CNNBetaVAE)
    alone = loss(make(CNNBetaVAE, lambda_class=0.0, beta=3.0), batch)
    assert_close(alone.total, loss(make(BetaVAE, beta=3.0), batch).total)


def test_raising_a_weight_by_one_adds_one_of_its_term() -> None:
    batch = batch_for(CNNBetaVAE)
    for weight, part in (("lambda_class", "cross_entropy"), ("beta", "kl")):
        low, high = (loss(make(CNNBetaVAE, **{weight: value}), batch) for value in (1.0, 2.0))
        assert_close(high.total - low.total, low.by_name[part])


def test_what_is_classified_in_training_is_the_code_with_noise() -> None:
    method, batch = make(CNNBetaVAE), batch_for(CNNBetaVAE)
    found = loss(method, batch).by_name["cross_entropy"]
    torch.manual_seed(2)
    z = method.posterior(batch.x).sample()
    assert_close(found, F.cross_entropy(method.classifier(z), batch.labels))
