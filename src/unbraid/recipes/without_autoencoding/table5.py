"""InfoMin on digit class and location, with accuracies at chance: Burns et al., 2021, Table 5."""

from unbraid.recipes.without_autoencoding import cells
from unbraid.recipes.without_autoencoding.table2 import infomin
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")
PUBLISHED = cells("subinfomax", None, "dc-dl", {"r": (11.7, 12.6)})


def runs(scale: str) -> list[Plan]:
    """One run of Eq. 4 as printed; the paper does not state the weight, here the larger of its two."""
    return [infomin(scale, "printed", 0.1, "dc-dl")]
