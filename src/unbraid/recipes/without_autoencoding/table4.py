"""Fully supervised subembeddings on digit class and location: Burns et al., 2021, Table 4."""

from unbraid.recipes.without_autoencoding import AS_PRINTED, SUPERVISED, cells, supervised_rows
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")
PUBLISHED = cells(
    SUPERVISED,
    AS_PRINTED,
    "dc-dl",
    {"r": (98.2, 99.9), "r0": (98.2, 13.4), "r1": (11.7, 99.9), "gap of r": (86.5, 86.5)},
)


def runs(scale: str) -> list[Plan]:
    """As printed, and with standardized features; one seed."""
    return supervised_rows(scale, "dc-dl")
