"""From one target image's salient code to another's, the common code held: Figs. 8 and 10, digits and faces.

`python benchmarks/contrast_figures.py STUDY` draws a grid of each run; so does its report.
"""

from unbraid.plan import Plan
from unbraid.recipes.principled_contrast import faces, grassy, rows


def runs(scale: str) -> list[Plan]:
    """Eq. 8 on linear Grassy-MNIST and on CelebA, with one decoder and in two layers, one seed."""
    data = grassy(scale=scale), faces("celeba", scale=scale)
    return [plan for each in data for plan in rows(each, "Eq. 8", "Eq. 8, layers", seeds=1)]
