"""InfoMax and InfoMin terms during training: Burns et al., 2021, Fig. 5.

Both terms are in the history of the run; `unbraid report` draws them. The paper's figure has no numbers: both terms are
constant until about 55,000 steps, then both decrease.
"""

from unbraid.recipes.without_autoencoding import plan
from unbraid.studies import Plan


def runs(scale: str) -> list[Plan]:
    """InfoMin with the smaller weight; the paper does not state the weight."""
    return [plan(scale, "subinfomax", lambda_infomin=0.001, seed=0)]
