"""InfoMax against InfoMin during training: Burns et al., 2021, Fig. 5.

Both terms are in the history of the run; `unbraid report` draws them. The paper's figure has no numbers to compare
with: both stand still until some 55,000 steps, then both fall.
"""

from unbraid.plan import Plan
from unbraid.recipes.without_autoencoding import plan


def runs(scale: str) -> list[Plan]:
    """InfoMin with its smaller weight; the paper does not say with which."""
    return [plan(scale, "subinfomax", infomin=0.001, seed=0)]
