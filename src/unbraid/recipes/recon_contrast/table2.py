"""Average and worst-group accuracy at angles that are not in the training split, for all methods (Table 2).

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 2: Rotation-Colored-MNIST. Digits are rotated
by 0, ±22.5 and ±45° in training, by ±65 and ±75° in the test, which also has other colors; each angle has its own
numbers. Ours uses an encoder in polar coordinates here, chosen by `search`; rows with the encoder of Table 1 follow,
also for the plain CNN.
"""

from unbraid.recipes.recon_contrast.table1 import (
    BASE,
    DIGITS,
    METHODS,
    SAME_ENCODER,
    both_colors,
    faster,
    plans,
    published,
    quick,
)
from unbraid.studies import Plan, replace

ANGLES = ("-75", "-65", "+65", "+75")
ROTATED = replace(BASE, data="rotation-colored-mnist", split="train")
POLAR = "conv-channelwise-polar"


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        return [quick(plan) for plan in rotated(ROTATED)[: len(METHODS)]]
    every = both_colors(rotated(replace(ROTATED, **DIGITS)))
    return [replace(faster(plan), seed=seed) for plan in every for seed in range(5)]


def rotated(base: Plan) -> list[Plan]:
    """The rows of Table 1; ours and the plain CNN with our encoder also in polar coordinates."""
    *baselines, ours, papers, same_encoder = plans(base)
    polar = replace(ours, predictive_encoder=POLAR), replace(same_encoder, architecture=POLAR)
    return [*baselines, polar[0], ours, papers, same_encoder, polar[1]]


COLUMNS = tuple(
    f"group_accuracy.{which}.angle={angle}" for angle in ANGLES for which in ("accuracy_at", "worst_at")
)
PUBLISHED: dict[tuple[str, ...], float | None] = {
    ("cnn", "rotation-colored-mnist", f"architecture={encoder}", metric): None
    for encoder in (SAME_ENCODER["architecture"], POLAR)
    for metric in COLUMNS
}
PUBLISHED |= published(
    "rotation-colored-mnist",
    COLUMNS,
    """
    0.770 0.623 0.897 0.775 0.858 0.658 0.683 0.499
    0.771 0.612 0.852 0.750 0.834 0.630 0.687 0.472
    0.722 0.589 0.858 0.744 0.841 0.646 0.717 0.48
    0.749 0.593 0.865 0.773 0.842 0.678 0.647 0.429
    0.761 0.592 0.886 0.791 0.856 0.688 0.722 0.534
    0.780 0.611 0.888 0.800 0.854 0.682 0.702 0.511
    0.810 0.753 0.908 0.857 0.873 0.823 0.732 0.633
    """,
    "on=rotation-colored-mnist --split test",
)
