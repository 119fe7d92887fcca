"""Background and target images and what Eq. 8 keeps of them: Fig. 7, on four data sets.

`python benchmarks/contrast_figures.py STUDY` draws a sheet of each run; so does its report.
"""

from unbraid.plan import Plan
from unbraid.recipes.principled_contrast import faces, grassy, rows


def runs(scale: str) -> list[Plan]:
    """One seed of each data set, with one decoder and in two layers."""
    grass = (grassy(mix, scale=scale) for mix in ("linear", "nonlinear"))
    data = (*grass, *(faces(name, scale=scale) for name in ("celeba", "expressions")))
    return [plan for each in data for plan in rows(each, "Eq. 8", "Eq. 8, layers", seeds=1)]
