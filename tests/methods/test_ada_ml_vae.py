"""A slow rewriting of Ada-ML-VAE, src/unbraid/methods/ada_ml_vae.py."""

from tests.methods.adaptive_pairs import check_against_slow_rewriting
from unbraid.methods.ada_ml_vae import AdaMLVAE


def product_of_gaussians(mu1: float, mu2: float, var1: float, var2: float) -> tuple[float, float]:
    """Mean and variance of the product of two normal densities, with twice its variance."""
    variance = 2 * var1 * var2 / (var1 + var2)
    return 0.5 * variance * (mu1 / var1 + mu2 / var2), variance


def test_slow_rewriting() -> None:
    check_against_slow_rewriting(AdaMLVAE, product_of_gaussians)
