"""InfoMin on digit class and location, with accuracies at chance: Burns et al., 2021, Table 5."""

from unbraid.recipes.without_autoencoding import cells, plan
from unbraid.studies import Plan

PUBLISHED = cells("subinfomax", None, "dc-dl", {"r": (11.7, 12.6)})


def runs(scale: str) -> list[Plan]:
    """One run; the paper does not state the weight, here the larger of its two."""
    return [plan(scale, "subinfomax", "dc-dl", strands=("r",), lambda_infomin=0.1, seed=0)]
