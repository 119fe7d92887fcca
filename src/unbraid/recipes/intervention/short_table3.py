"""Table 3 shortened to three seeds of 10,000 steps, with variants of the intervention autoencoder.

Unsupervised Disentanglement Learning by Intervention, 2021. The paper has ten seeds, and gives no steps. `quick` is the
quick Table 3.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.intervention import SEEDS, SHORT, short_table1, table3, unpublished

# Of two features, one that is free before the other would take everything.
VARIANTS = {name: options for name, options in short_table1.VARIANTS.items() if "free" not in options}
PUBLISHED = table3.PUBLISHED | unpublished(VARIANTS)


def runs(scale: str) -> list[Plan]:
    """Two FactorVAEs, the intervention autoencoder and its variants on both laws."""
    return table3.runs(scale) if scale == "quick" else plans(SHORT, SEEDS)


def plans(steps: int, seeds: int) -> list[Plan]:
    """The same with other budgets."""
    variants = {
        f"intervention {name}": table3.METHODS["intervention"] | options for name, options in VARIANTS.items()
    }
    return table3.plans(replace(table3.BASE, steps=steps), seeds, table3.METHODS | variants)
