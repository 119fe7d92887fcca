"""Disentanglement on dSprites with independent factors and with x-position and scale correlated (Table 1).

Unsupervised Disentanglement Learning by Intervention, 2021: 200,000 training and 50,000 test images, ten seeds. `quick`
uses rendered sprites at 32×32.
"""

from unbraid.recipes.intervention import STEPS, in_small_batches, plans, published
from unbraid.studies import Plan

PUBLISHED = published(
    "dsprites",
    "pos_x-scale",
    """
    0.73 0.55 0.62 0.60 0.46 0.54
    0.72 0.56 0.63 0.63 0.47 0.57
    0.62 0.54 0.55 0.55 0.46 0.46
    0.73 0.58 0.50 0.68 0.51 0.45
    0.76 0.55 0.62 0.74 0.51 0.59
    """,
)


def runs(scale: str) -> list[Plan]:
    """Five methods on both distributions."""
    if scale == "quick":
        return in_small_batches(plans("sprites", 100, 1), holdout_size=1_000)
    return plans("dsprites", STEPS, 10)
