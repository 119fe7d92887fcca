"""Which part of the intervention autoencoder does what: each term of Eq. 3 left out, and its variants.

Not in the paper. On dSprites with x-position and scale correlated; `quick` on rendered sprites at 32×32.
"""

from unbraid.plan import Plan
from unbraid.recipes.intervention import STEPS, plans

PARTS: dict[str, dict[str, object]] = {
    "as printed": {},
    "without translation": {"translation": 0.0},
    "without undoing": {"undo": 0.0},
    "without adversary": {"adversary": 0.0},
    "without weights": {"reweigh": False},
    "not saturating": {"saturating": False},
    "unrolled": {"unrolled": True},
}


def runs(scale: str) -> list[Plan]:
    """Every part on correlated factors."""
    quick = scale == "quick"
    methods = {
        f"intervention {name}": {"architecture": "conv-factor-vae"} | options
        for name, options in PARTS.items()
    }
    data, steps, seeds = ("sprites", 50, 1) if quick else ("dsprites", STEPS, 3)
    return [plan for plan in plans(data, steps, seeds, methods=methods) if plan.options["correlate"]]
