"""Salient codes of target and background in one t-SNE map: Fig. 4, on linear Grassy-MNIST.

`python benchmarks/contrast_figures.py STUDY` draws one map per run.
"""

from unbraid.recipes.principled_contrast import grassy, rows
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")


def runs(scale: str) -> list[Plan]:
    """The paper's three methods and ours, one seed."""
    return rows(grassy(scale=scale), "cVAE", "Eq. 7", "Eq. 8", "Eq. 8, overlay", seeds=1)
