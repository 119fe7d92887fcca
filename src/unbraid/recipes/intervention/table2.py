"""Disentanglement on 3D Shapes with independent factors and with the hues of floor and wall correlated (Table 2).

Unsupervised Disentanglement Learning by Intervention, 2021: 100,000 training and 50,000 test images, ten seeds. Here
also on rooms, which need no download. `quick` uses small rooms.
"""

from unbraid.recipes.intervention import STEPS, in_small_batches, plans, published
from unbraid.studies import Plan

PUBLISHED = published(
    "shapes3d",
    "floor_hue-wall_hue",
    """
    0.75 0.43 0.65 0.60 0.33 0.57
    0.73 0.53 0.67 0.49 0.26 0.42
    0.76 0.46 0.70 0.68 0.23 0.64
    0.53 0.40 0.57 0.36 0.25 0.44
    0.63 0.45 0.62 0.67 0.47 0.66
    """,
)


def runs(scale: str) -> list[Plan]:
    """Five methods on both distributions."""
    if scale == "quick":
        return in_small_batches(plans("rooms", 60, 1), holdout_size=500, train_size=20_000, image_size=32)
    return [plan for data in ("rooms", "shapes3d") for plan in plans(data, STEPS, 10)]
