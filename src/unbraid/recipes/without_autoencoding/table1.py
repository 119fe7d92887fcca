"""Fully supervised subembeddings on digit and background class: Burns et al., 2021, Table 1."""

from unbraid.recipes.without_autoencoding import AS_PRINTED, SUPERVISED, cells, supervised_rows
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")
PUBLISHED = cells(
    SUPERVISED,
    AS_PRINTED,
    "dc-bc",
    {"r": (97.3, 64.5), "r0": (97.3, 10.1), "r1": (11.7, 64.5), "gap of r": (85.6, 54.4)},
)


def runs(scale: str) -> list[Plan]:
    """As printed, and with standardized features; one seed."""
    return supervised_rows(scale)
