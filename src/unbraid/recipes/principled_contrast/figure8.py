"""Interpolation of the salient code between target images with a fixed common code: Figs. 8 and 10, digits and faces.

`python benchmarks/contrast_figures.py STUDY` draws a grid per run, as does `unbraid report`.
"""

from unbraid.recipes.principled_contrast import faces, grassy, rows
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")


def runs(scale: str) -> list[Plan]:
    """Eq. 8 on linear Grassy-MNIST and on CelebA, with one decoder and with an overlay decoder, one seed."""
    data = grassy(scale=scale), faces("celeba", scale=scale)
    return [plan for each in data for plan in rows(each, "Eq. 8", "Eq. 8, overlay", seeds=1)]
