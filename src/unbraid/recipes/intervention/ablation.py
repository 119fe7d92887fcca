"""Ablation of the intervention autoencoder: each term of Eq. 3 removed, variants, and a KL bottleneck.

Not in the paper. On dSprites with x-position and scale correlated; `quick` uses rendered sprites at 32×32.
"""

from unbraid.objectives import MLPTranslatorSGD
from unbraid.recipes.intervention import STEPS, in_small_batches, plans, with_networks
from unbraid.studies import Plan

VARIANTS: dict[str, dict[str, object]] = {
    "intervention complete": {},
    "intervention without reconstruction": {"reconstruction": False},
    "intervention without translation": {"lambda_translation": 0.0},
    "intervention without cycle": {"lambda_cycle": 0.0},
    "intervention without adversary": {"lambda_adv": 0.0},
    "intervention without importance weights": {"importance_weights": False},
    "intervention not saturating": {"saturating": False},
    "intervention unrolled": {"unrolled": True},
    "intervention gradient descent on the cross-entropy": {
        "translator": MLPTranslatorSGD(lr=0.1),
        "subtract_entropy": False,
    },
    "sequential-intervention with a bottleneck": {"beta": 1.0},
}


def runs(scale: str) -> list[Plan]:
    """All variants on correlated factors."""
    if scale == "quick":
        return in_small_batches(models("sprites", 30, 1), holdout_size=1_000)
    return models("dsprites", STEPS, 3)


def models(data: str, steps: int, seeds: int) -> list[Plan]:
    """The variants on a given dataset, with given steps and seeds."""
    both = plans(data, steps, seeds, methods=with_networks(VARIANTS))
    return [plan for plan in both if plan.options["correlate"]]
