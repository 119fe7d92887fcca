"""Reconstructions of background and target images by Eq. 8: Fig. 7, on four datasets.

`python benchmarks/contrast_figures.py STUDY` draws an image grid per run, as does `unbraid report`.
"""

from unbraid.recipes.principled_contrast import faces, grassy, rows
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")


def runs(scale: str) -> list[Plan]:
    """One seed per dataset, with one decoder and with an overlay decoder."""
    grass = (grassy(mix, scale=scale) for mix in ("linear", "nonlinear"))
    data = (*grass, *(faces(name, scale=scale) for name in ("celeba", "expressions")))
    return [plan for each in data for plan in rows(each, "Eq. 8", "Eq. 8, overlay", seeds=1)]
