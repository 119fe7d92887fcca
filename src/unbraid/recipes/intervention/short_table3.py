"""Table 3 shortened to three seeds of 10,000 steps, with the sequential intervention autoencoder.

Unsupervised Disentanglement Learning by Intervention, 2021. The paper has ten seeds and does not state the steps. In
the sequential intervention autoencoder, ours, which takes 7,000 steps, the first feature is trained alone and frozen
before the second becomes active.
`quick` is the quick Table 3.
"""

from unbraid.optimizers import Adam
from unbraid.recipes.intervention import SEEDS, SHORT, table3
from unbraid.schedules import Linear, WarmupHold
from unbraid.studies import Plan, replace


def variants(steps: int) -> dict[str, dict[str, object]]:
    """Settings of the sequential intervention autoencoder by name."""
    fewer = steps * 7 // 10
    first_feature = fewer * 4 // 10  # steps in which only the first feature is active
    return {
        "sequential-intervention frozen": {
            "lambda_translation": 0.0,
            "steps": fewer,
            "beta": 2.0,
            "beta_schedule": WarmupHold(3.0, 36.0, fewer * 3 // 10, first_feature, 1.0),
            "feature_schedule": Linear(1.0, 2.0, first_feature),
            "freeze_learned": True,
            "prune_kl": 0.1,
            "optimizer": Adam(1e-3),
        }
    }


PUBLISHED = table3.PUBLISHED


def runs(scale: str) -> list[Plan]:
    """Two FactorVAEs, the intervention autoencoder and the sequential one on both distributions."""
    return table3.runs(scale) if scale == "quick" else plans(SHORT["hue-mnist"], SEEDS)


def plans(steps: int, seeds: int) -> list[Plan]:
    """The methods with given steps and seeds."""
    methods = {name: table3.METHODS["intervention"] | options for name, options in variants(steps).items()}
    return table3.plans(replace(table3.BASE, steps=steps), seeds, table3.METHODS | methods)
