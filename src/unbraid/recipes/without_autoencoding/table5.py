"""InfoMin on digit class and location, which learns nothing there: Burns et al., 2021, Table 5."""

from unbraid.plan import Plan
from unbraid.recipes.without_autoencoding import cells, plan

PUBLISHED = cells("subinfomax", None, "dc-dl", {"r": (11.7, 12.6)})


def runs(scale: str) -> list[Plan]:
    """One run; the paper does not say with which weight, here the larger of its two."""
    return [plan(scale, "subinfomax", "dc-dl", strands=("r",), infomin=0.1, seed=0)]
