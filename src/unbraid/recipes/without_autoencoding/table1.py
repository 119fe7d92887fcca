"""Fully supervised subembeddings on digit and background class: Burns et al., 2021, Table 1."""

from unbraid.recipes.without_autoencoding import SUPERVISED, cells, supervised
from unbraid.studies import Plan

PUBLISHED = cells(
    SUPERVISED,
    None,
    "dc-bc",
    {"r": (97.3, 64.5), "r0": (97.3, 10.1), "r1": (11.7, 64.5), "gap of r": (85.6, 54.4)},
)


def runs(scale: str) -> list[Plan]:
    """One run."""
    return [supervised(scale)]
