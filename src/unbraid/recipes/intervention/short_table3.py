"""Table 3 shortened to three seeds of 10,000 steps, with variants of the intervention autoencoder.

Unsupervised Disentanglement Learning by Intervention, 2021. The paper has ten seeds, and gives no steps. Beside the
method as App. C has it stand one whose features are guarded against dying, and one whose first feature settles on what
it tells before the second is free, which takes 7,000 steps. `quick` is the quick Table 3.
"""

from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.recipes.intervention import SEEDS, SHORT, table3, unpublished
from unbraid.schedules import Linear, Peak


def variants(steps: int) -> dict[str, dict[str, object]]:
    """Other settings of the intervention autoencoder, by what they are called."""
    guarded: dict[str, object] = {
        "bottleneck": 4.0,
        "guard": 0.3,
        "undo": 4.0,
        "adversary": 300.0,
        "saturating": False,
        "optimiser": Adam(5e-4),
    }
    fewer = steps * 7 // 10
    alone = fewer * 4 // 10  # steps in which the first feature learns
    settled: dict[str, object] = {
        "steps": fewer,
        "bottleneck": 2.0,
        "opening": Peak(3.0, 36.0, fewer * 3 // 10, alone, 1.0),
        "free": Linear(1.0, 2.0, alone),
        "settled": True,
        "least": 0.1,
        "optimiser": Adam(1e-3),
    }
    return {name: {"translation": 0.0} | own for name, own in (("guarded", guarded), ("settled", settled))}


PUBLISHED = table3.PUBLISHED | unpublished(variants(SHORT["hue-mnist"]))


def runs(scale: str) -> list[Plan]:
    """Two FactorVAEs, the intervention autoencoder and its variants on both laws."""
    return table3.runs(scale) if scale == "quick" else plans(SHORT["hue-mnist"], SEEDS)


def plans(steps: int, seeds: int) -> list[Plan]:
    """The same with other budgets."""
    methods = {
        f"intervention {name}": table3.METHODS["intervention"] | options
        for name, options in variants(steps).items()
    }
    return table3.plans(replace(table3.BASE, steps=steps), seeds, table3.METHODS | methods)
