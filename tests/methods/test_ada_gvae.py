"""A slow rewriting of Ada-GVAE, src/unbraid/methods/ada_gvae.py."""

from tests.methods.adaptive_pairs import check_against_slow_rewriting
from unbraid.methods.ada_gvae import AdaGVAE


def test_slow_rewriting() -> None:
    check_against_slow_rewriting(AdaGVAE, lambda mu1, mu2, var1, var2: ((mu1 + mu2) / 2, (var1 + var2) / 2))
