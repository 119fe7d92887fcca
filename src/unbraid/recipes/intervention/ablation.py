"""Ablation of the intervention autoencoder: each term of Eq. 3 removed, and variants.

Not in the paper. On dSprites with x-position and scale correlated; `quick` uses rendered sprites at 32×32.
"""

from unbraid.recipes.intervention import STEPS, in_small_batches, of_intervention, plans
from unbraid.studies import Plan

VARIANTS: dict[str, dict[str, object]] = {
    "complete": {},
    "without reconstruction": {"reconstruction": False},
    "without translation": {"lambda_translation": 0.0},
    "without cycle": {"lambda_cycle": 0.0},
    "without adversary": {"lambda_adv": 0.0},
    "without importance weights": {"importance_weights": False},
    "not saturating": {"saturating": False},
    "with a bottleneck": {"beta": 1.0},
    "unrolled": {"unrolled": True},
    "translation as printed": {"inner_adam": False, "subtract_entropy": False, "inner_lr": 0.1},
}


def runs(scale: str) -> list[Plan]:
    """All variants on correlated factors."""
    if scale == "quick":
        return in_small_batches(models("sprites", 30, 1), holdout_size=1_000)
    return models("dsprites", STEPS, 3)


def models(data: str, steps: int, seeds: int) -> list[Plan]:
    """The variants on a given dataset, with given steps and seeds."""
    both = plans(data, steps, seeds, methods=of_intervention(VARIANTS))
    return [plan for plan in both if plan.options["correlate"]]
