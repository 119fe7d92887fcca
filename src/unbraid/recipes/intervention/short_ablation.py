"""The ablation shortened to three seeds of 10,000 steps.

Not in the paper. On dSprites with x-position and scale correlated. `quick` is the quick ablation.
"""

from unbraid.recipes.intervention import SHORT, SHORT_SEEDS, ablation
from unbraid.studies import Plan


def runs(scale: str) -> list[Plan]:
    """All variants on correlated factors."""
    return (
        ablation.runs(scale)
        if scale == "quick"
        else ablation.models("dsprites", SHORT["dsprites"], SHORT_SEEDS)
    )
