"""Recon-contrast with its classifier trained separately, jointly and without the contrast, and the plain CNN (Table 5).

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 5: Colored-MNIST, and Rotation-Colored-MNIST at
65°. Length, batches, rate, weights, precision and pairs (another image with changed colors) are our reading, as in
Table 1. Not in the paper: the plain CNN, and the second block with a reader. `quick` is on Colored-MNIST only.
"""

from unbraid.recipes.recon_contrast import (
    PARTNERS,
    POLAR,
    READER,
    base,
    over_seeds,
    row,
    unpublished,
    with_reader,
)
from unbraid.recipes.recon_contrast import SCALES as SCALES
from unbraid.recipes.recon_contrast.table1 import BOTH
from unbraid.studies import Plan

SCHEMES = ("cross-entropy", "joint", "separate")


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        return over_seeds(plans(base("colored-mnist", scale)), scale)
    blocks = (("colored-mnist", READER), ("rotation-colored-mnist", POLAR))
    every = []
    for data, reader in blocks:
        printed = plans(base(data, scale))
        every += [*printed, *(with_reader(plan, reader) for plan in printed)]
    return over_seeds(every, scale)


def plans(plan: Plan) -> list[Plan]:
    """The plain CNN, then all schemes."""
    pairs = {"partner": PARTNERS[0]}
    return [row(plan, "cnn"), *(row(plan, "recon-contrast", scheme=scheme, **pairs) for scheme in SCHEMES)]


TABLE = """
    0.932 0.680   0.821 0.653
    0.935 0.732   0.842 0.678
    0.980 0.904   0.873 0.823
"""
AT_65 = ("group_accuracy.accuracy_at.angle=+65", "group_accuracy.worst_at.angle=+65")
COLUMNS = [
    *(("colored-mnist", metric) for metric in BOTH),
    *(("rotation-colored-mnist", metric) for metric in AT_65),
]
PUBLISHED: dict[tuple[str, ...], float | None] = {}
for _data, _metrics, _reader in (
    ("colored-mnist", BOTH, READER),
    ("rotation-colored-mnist", AT_65, POLAR),
):
    PUBLISHED |= unpublished(_data, _metrics, _reader)
PUBLISHED |= {
    ("recon-contrast", data, f"scheme={scheme}", metric): float(value)
    for scheme, line in zip(SCHEMES, TABLE.strip().splitlines(), strict=True)
    for (data, metric), value in zip(COLUMNS, line.split(), strict=True)
}
