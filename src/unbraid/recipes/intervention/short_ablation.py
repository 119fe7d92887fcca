"""Which part of the intervention autoencoder does what, within 10,000 steps: each term of Eq. 3 left out, and variants.

Not in the paper. Three seeds on dSprites with x-position and scale correlated. `quick` is the quick ablation.
"""

from unbraid.plan import Plan
from unbraid.recipes.intervention import SEEDS, SHORT, ablation


def runs(scale: str) -> list[Plan]:
    """Every part on correlated factors."""
    return ablation.runs(scale) if scale == "quick" else ablation.models("dsprites", SHORT["dsprites"], SEEDS)
