"""Target images decoded from all codes, from the common and from the salient alone: Fig. 5, on linear Grassy-MNIST.

`python benchmarks/contrast_figures.py STUDY` draws a sheet of each run; so does its report.
"""

from unbraid.plan import Plan
from unbraid.recipes.principled_contrast import grassy, rows


def runs(scale: str) -> list[Plan]:
    """The paper's four methods and ours, one seed."""
    return rows(grassy(scale=scale), "cVAE", "sRb-VAE", "Eq. 7", "Eq. 8", "Eq. 8, layers", seeds=1)
