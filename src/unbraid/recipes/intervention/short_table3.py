"""Table 3 shortened to three seeds of 20,000 steps, with variants of the intervention autoencoder.

Unsupervised Disentanglement Learning by Intervention, 2021. The paper has ten seeds, and gives no steps. `quick` is the
quick Table 3.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.intervention import SEEDS, SHORT, short_table1, table3, unpublished

PUBLISHED = table3.PUBLISHED | unpublished(short_table1.VARIANTS)


def runs(scale: str) -> list[Plan]:
    """Two FactorVAEs, the intervention autoencoder and its variants on both laws."""
    return table3.runs(scale) if scale == "quick" else plans(SHORT, SEEDS)


def plans(steps: int, seeds: int) -> list[Plan]:
    """The same with other budgets."""
    variants = {
        f"intervention {name}": table3.METHODS["intervention"] | options
        for name, options in short_table1.VARIANTS.items()
    }
    return table3.plans(replace(table3.BASE, steps=steps), seeds, table3.METHODS | variants)
