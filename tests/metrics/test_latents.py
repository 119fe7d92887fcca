"""Whether latents were found again, src/unbraid/metrics/latents.py."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unbraid.metrics import latent_mcc, latent_r2


def latents(n: int = 4000) -> np.ndarray:
    """Two columns without correlation and of variance 1."""
    z = np.random.default_rng(0).standard_normal((n, 2))
    z -= z.mean(0)
    return z @ np.linalg.inv(np.linalg.cholesky(np.cov(z.T, bias=True))).T


def among_noise(z: np.ndarray) -> np.ndarray:
    """The codes behind three narrow ones."""
    return np.column_stack([0.01 * np.random.default_rng(1).standard_normal((len(z), 3)), z])


def test_scale_sign_order_and_noise_do_not_matter() -> None:
    codes = among_noise(latents()[:, ::-1] * [-3, 0.5] + 1)
    result = latent_mcc(codes, latents())
    assert_allclose(result.score, 1.0)
    assert result.dims.tolist() == [4, 3]
    assert_allclose(latent_r2(codes, latents()).per_latent, [1.0, 1.0])


def test_a_rotation_costs_correlation_and_no_variance() -> None:
    """Turned by 45°, each code correlates with each latent by cos 45°."""
    turned = latents() @ np.array([[1, -1], [1, 1]]) / math.sqrt(2)
    assert_allclose(latent_mcc(among_noise(turned), latents()).score, math.sqrt(0.5), atol=1e-6)
    assert_allclose(latent_r2(among_noise(turned), latents()).score, 1.0)


def test_only_the_widest_codes_count() -> None:
    """The second latent sits in a narrow code, and a wide code holds nothing."""
    z = latents()
    wide = np.random.default_rng(2).standard_normal(len(z))
    codes = np.column_stack([z[:, 0], 0.001 * z[:, 1], wide])
    assert latent_r2(codes, z).per_latent[1] < 0.01
    assert latent_mcc(codes, z).score < 0.55


def test_r2_is_what_least_squares_leaves() -> None:
    z = latents()
    noise = np.random.default_rng(3).standard_normal(z.shape)
    assert_allclose(latent_r2(z + noise, z).score, 0.5, atol=0.03)


def test_latents_that_do_not_vary_are_refused() -> None:
    for metric in (latent_mcc, latent_r2):
        with pytest.raises(ValueError, match="latents must each vary"):
            metric(latents(), np.ones((4000, 1)))
