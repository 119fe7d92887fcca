"""KL a code, src/unbraid/metrics/kl_per_dim.py."""

import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence
from torch.testing import assert_close

from unbraid.metrics import kl_per_dim


def test_agreement_with_torch() -> None:
    rng = np.random.default_rng(0)
    mean, logvar = rng.standard_normal((2, 20, 3))
    posterior = Normal(torch.from_numpy(mean), torch.from_numpy(np.exp(logvar / 2)))
    peer = kl_divergence(posterior, Normal(torch.tensor(0.0), torch.tensor(1.0))).mean(dim=0).numpy()
    result = kl_per_dim(mean, logvar)
    assert_close(result.per_dim, peer, rtol=1e-6, atol=1e-6)
    assert_close(result.score, float(peer.sum()), rtol=1e-6, atol=1e-6)


def test_by_hand() -> None:
    """The prior itself costs 0; a mean of ±1 costs ½; a variance of e costs (e - 2) / 2."""
    mean = np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    result = kl_per_dim(mean, np.array([[0.0, 0.0, 1.0]] * 2))
    assert_close(result.per_dim, np.array([0.0, 0.5, (np.e - 2) / 2]))
    assert result.informative.tolist() == [False, True, True]
    assert type(result.score) is float


def test_digits_survive_near_the_prior() -> None:
    """½ (e^v - v - 1) = v² / 4 + v³ / 12 + …: at v = 1e-6 the naive difference keeps no digit of it."""
    result = kl_per_dim(np.zeros((2, 1)), np.full((2, 1), 1e-6))
    assert_close(result.score, 2.5e-13, rtol=1e-3, atol=0.0)


def test_bad_input_gets_one_sentence() -> None:
    with pytest.raises(ValueError, match="logvar must have one row per sample"):
        kl_per_dim(np.zeros((4, 2)), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="logvar must have 2 columns"):
        kl_per_dim(np.zeros((4, 2)), np.zeros((4, 3)))
