"""InfoMax and InfoMin terms during training: Burns et al., 2021, Fig. 5.

The run is the first of `table2`. Both terms are in its history; `unbraid report` draws them. The paper's figure has no
numbers: both terms are constant until about 55,000 steps, then both decrease.
"""

from unbraid.recipes.without_autoencoding.table2 import infomin
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")


def runs(scale: str) -> list[Plan]:
    """InfoMin as printed with the smaller weight; the paper does not state the weight."""
    return [infomin(scale, "printed", 0.001)]
