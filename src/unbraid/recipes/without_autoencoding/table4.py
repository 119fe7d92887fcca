"""Fully supervised subembeddings on digit class and location: Burns et al., 2021, Table 4."""

from unbraid.recipes.without_autoencoding import SUPERVISED, cells, supervised
from unbraid.studies import Plan

PUBLISHED = cells(
    SUPERVISED,
    None,
    "dc-dl",
    {"r": (98.2, 99.9), "r0": (98.2, 13.4), "r1": (11.7, 99.9), "gap of r": (86.5, 86.5)},
)


def runs(scale: str) -> list[Plan]:
    """One run."""
    return [supervised(scale, "dc-dl")]
