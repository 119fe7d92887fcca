"""Disentanglement on 3D Shapes with the hues of floor and wall correlated, and with independent factors (Table 2).

Unsupervised Disentanglement Learning by Intervention, 2021: 100,000 training and 50,000 test images. Here also on
rooms, which need no download. SAP takes hues as classes, because their values have no order. `paper` has ten seeds of
50,000 steps, our reading, each scored at 5,000 and 15,000 steps, too (β-TCVAE: at a quarter of them), with our
sequential form beside the five methods. `short` has three seeds of 5,000 steps on rooms: by the measured rates six
minutes on one H200. `quick` uses small rooms.
"""

from collections.abc import Sequence

from unbraid.recipes.intervention import (
    LENGTHS,
    ROOMS_STEPS,
    SEEDS,
    SHORT,
    SHORT_SEEDS,
    at_lengths,
    in_small_batches,
    plans,
    published,
    settings_of,
    shortened,
    with_ours,
)
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")
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
    """The methods on both distributions, correlated hues first."""
    if scale == "quick":
        return quick("rooms", holdout_size=500, train_size=20_000, image_size=32)
    if scale == "short":
        steps = SHORT["rooms"]
        return plans("rooms", steps, SHORT_SEEDS, methods=with_ours(shortened("rooms", steps), steps))
    return [plan for data in ("rooms", "shapes3d") for plan in models(data, ROOMS_STEPS, SEEDS)]


def models(data: str, steps: int, seeds: int, lengths: Sequence[float] = LENGTHS) -> list[Plan]:
    """The paper's methods and ours, scored at several lengths."""
    methods = with_ours(settings_of(data, steps), steps)
    return at_lengths(plans(data, steps, seeds, methods=methods), lengths)


def quick(data: str, **options: object) -> list[Plan]:
    """The methods for a few steps."""
    return in_small_batches(models(data, 60, 1, (0.3,)), **options)
