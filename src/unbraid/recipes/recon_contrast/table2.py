"""Average and worst-group accuracy at angles that are not in the training split, for all methods (Table 2).

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 2: Rotation-Colored-MNIST. Digits are rotated
by 0, ±22.5 and ±45° in training, by ±65 and ±75° in the test, which also has other colors; each angle has its own
numbers. Length, batches, rate, weights, precision and pairs are our reading, as in Table 1. Not in the paper: the
second block, all methods with a reader in polar coordinates, and the plain CNN and recon-contrast with the reader of
Table 1.
"""

from unbraid.recipes.recon_contrast import (
    POLAR,
    READER,
    base,
    over_seeds,
    paper_block,
    reader_block,
    unpublished,
)
from unbraid.recipes.recon_contrast import SCALES as SCALES
from unbraid.recipes.recon_contrast.table1 import both_colors, published
from unbraid.studies import Plan

ANGLES = ("-75", "-65", "+65", "+75")


def runs(scale: str) -> list[Plan]:
    digits = base("rotation-colored-mnist", scale)
    if scale == "quick":
        return over_seeds(paper_block(digits), scale)
    cnn, *_, recon_contrast = reader_block(digits)
    plans = [*paper_block(digits), *reader_block(digits, POLAR), cnn, recon_contrast]
    return over_seeds(both_colors(plans), scale)


COLUMNS = tuple(
    f"group_accuracy.{which}.angle={angle}" for angle in ANGLES for which in ("accuracy_at", "worst_at")
)
PUBLISHED: dict[tuple[str, ...], float | None] = dict(
    unpublished("rotation-colored-mnist", COLUMNS, READER, POLAR)
)
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
