"""Scores of estimators by hand, src/unbraid/estimators/score.py."""

import torch
from torch.testing import assert_close

from tests.tiny import images, make
from unbraid.estimators.score import has_score, negative_score
from unbraid.methods import CNN, GIN, VAE, BetaVAE, ContrastivePCA, SimCLR
from unbraid.types import Batch


def test_the_bound_has_weight_one_whatever_the_weights_of_the_method() -> None:
    x, vae, beta = images(), make(VAE), make(BetaVAE, beta=9.0)
    torch.manual_seed(2)
    expected = vae.loss(Batch(x)).total
    torch.manual_seed(2)
    assert_close(negative_score(beta, x), expected)


def test_without_a_likelihood_it_is_the_squared_distance() -> None:
    x, method = images(), make(ContrastivePCA, salient_dim=4)
    residual = method.decode(method.encode(x)) - x
    assert_close(negative_score(method, x), residual.square().sum((1, 2, 3)).mean())


def test_which_methods_have_one() -> None:
    assert all(map(has_score, (VAE, GIN, CNN, ContrastivePCA))) and not has_score(SimCLR)
