"""Table 3 shortened to three seeds of 10,000 steps, with the sequential intervention autoencoder.

Unsupervised Disentanglement Learning by Intervention, 2021. The paper has ten seeds and does not state the steps. In
the sequential intervention autoencoder, ours, which takes 7,000 steps, the first feature is trained alone and frozen
before the second becomes active.
`quick` is the quick Table 3.
"""

from unbraid.recipes.intervention import SHORT, SHORT_SEEDS, table3
from unbraid.studies import Plan, replace

PUBLISHED = table3.PUBLISHED


def runs(scale: str) -> list[Plan]:
    """Two FactorVAEs, the intervention autoencoder and the sequential one on both distributions."""
    return table3.runs(scale) if scale == "quick" else plans(SHORT["hue-mnist"], SHORT_SEEDS)


def plans(steps: int, seeds: int) -> list[Plan]:
    """The methods with given steps and seeds."""
    methods = table3.METHODS | {"sequential-intervention frozen": table3.frozen(steps)}
    return table3.plans(replace(table3.BASE, steps=steps), seeds, methods)
