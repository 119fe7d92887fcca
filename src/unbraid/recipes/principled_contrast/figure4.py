"""Salient codes of target and background in one map: Fig. 4, on linear Grassy-MNIST.

`python benchmarks/contrast_figures.py STUDY` draws the maps, of t-SNE as in the paper, one for each run.
"""

from unbraid.plan import Plan
from unbraid.recipes.principled_contrast import grassy, rows


def runs(scale: str) -> list[Plan]:
    """The paper's three methods and ours, one seed."""
    return rows(grassy(scale=scale), "cVAE", "Eq. 7", "Eq. 8", "Eq. 8, layers", seeds=1)
