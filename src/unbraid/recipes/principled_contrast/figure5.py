"""Target images decoded from the code, the common strand and the salient strand: Fig. 5, on linear Grassy-MNIST.

`python benchmarks/contrast_figures.py STUDY` draws an image grid per run, as does `unbraid report`.
"""

from unbraid.recipes.principled_contrast import grassy, rows
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")


def runs(scale: str) -> list[Plan]:
    """The paper's four methods and ours, one seed."""
    return rows(grassy(scale=scale), "cVAE", "sRb-VAE", "Eq. 7", "Eq. 8", "Eq. 8, overlay", seeds=1)
