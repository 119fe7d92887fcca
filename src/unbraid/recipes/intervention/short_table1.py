"""Table 1 shortened to three seeds of 10,000 steps, with variants of the intervention autoencoder.

Unsupervised Disentanglement Learning by Intervention, 2021. The paper has ten seeds, and gives no steps. β-TCVAE, whose
batches are of 2,048 images, has 2,500. Beside the method as App. C has it stand those without translation, with a
bottleneck, and with features that are freed one after the other while a bottleneck opens. `quick` is the quick Table 1.
"""

from unbraid.optimisers import Adam
from unbraid.plan import Plan
from unbraid.recipes.intervention import SEEDS, SHORT, of_intervention, shortened, table1, unpublished
from unbraid.recipes.intervention import plans as plans_of
from unbraid.schedules import Geometric, Linear


def variants(steps: int) -> dict[str, dict[str, object]]:
    """Other settings of the intervention autoencoder, by what they are called."""
    freed: dict[str, object] = {
        "free": Linear(2.0, 10.0, steps * 6 // 10),
        "least": 0.1,
        "translation": 0.0,
        "optimiser": Adam(5e-4),
    }
    return {
        "without translation": {"translation": 0.0},
        "with a bottleneck": {"bottleneck": 1.0},
        "with a bottleneck, without translation": {"bottleneck": 1.0, "translation": 0.0},
        "freed one after the other": freed | {"bottleneck": 0.5, "opening": Geometric(16.0, 1.0, steps)},
        "freed, and opened further": freed
        | {"bottleneck": 0.25, "opening": Geometric(32.0, 1.0, steps * 8 // 10), "saturating": False},
    }


PUBLISHED = table1.PUBLISHED | unpublished(variants(SHORT["dsprites"]))


def runs(scale: str) -> list[Plan]:
    """Five methods and five variants on both laws."""
    return table1.runs(scale) if scale == "quick" else plans("dsprites", SHORT["dsprites"], SEEDS)


def plans(data: str, steps: int, seeds: int) -> list[Plan]:
    """The same for other data and other budgets."""
    return plans_of(data, steps, seeds, methods=shortened(data, steps) | of_intervention(variants(steps)))
