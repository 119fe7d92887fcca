"""Which part of the intervention autoencoder does what: each term of Eq. 3 left out, and its variants.

Not in the paper. On dSprites with x-position and scale correlated; `quick` on rendered sprites at 32×32.
"""

from unbraid.plan import Plan
from unbraid.recipes.intervention import STEPS, in_small_batches, of_intervention, plans

PARTS: dict[str, dict[str, object]] = {
    "whole": {},
    "without reconstruction": {"reconstruct": False},
    "without translation": {"translation": 0.0},
    "without undoing": {"undo": 0.0},
    "without adversary": {"adversary": 0.0},
    "without weights": {"reweigh": False},
    "not saturating": {"saturating": False},
    "with a bottleneck": {"bottleneck": 1.0},
    "unrolled": {"unrolled": True},
    "translation as printed": {"inner_adam": False, "above_entropy": False, "inner_rate": 0.1},
}


def runs(scale: str) -> list[Plan]:
    """Every part on correlated factors."""
    if scale == "quick":
        return in_small_batches(models("sprites", 30, 1), hold_out=1_000)
    return models("dsprites", STEPS, 3)


def models(data: str, steps: int, seeds: int) -> list[Plan]:
    """The same for other data and other budgets."""
    found = plans(data, steps, seeds, methods=of_intervention(PARTS))
    return [plan for plan in found if plan.options["correlate"]]
