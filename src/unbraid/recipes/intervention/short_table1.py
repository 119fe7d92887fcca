"""Table 1 shortened to three seeds of 20,000 steps, with variants of the intervention autoencoder.

Unsupervised Disentanglement Learning by Intervention, 2021. The paper has ten seeds, and gives no steps. β-TCVAE, whose
batches are of 2,048 images, has 5,000. Beside the method as App. C has it stand those without one of its parts, the
adversary that does not saturate, and a bottleneck. `quick` is the quick Table 1.
"""

from unbraid.plan import Plan
from unbraid.recipes.intervention import SEEDS, SHORT, of_intervention, shortened, table1, unpublished
from unbraid.recipes.intervention import plans as plans_of

VARIANTS: dict[str, dict[str, object]] = {
    "without weights": {"reweigh": False},
    "without translation": {"translation": 0.0},
    "not saturating": {"saturating": False},
    "with a bottleneck": {"bottleneck": 1.0},
    "not saturating, with a bottleneck": {"saturating": False, "bottleneck": 1.0},
}
PUBLISHED = table1.PUBLISHED | unpublished(VARIANTS)


def runs(scale: str) -> list[Plan]:
    """Five methods and five variants on both laws."""
    return table1.runs(scale) if scale == "quick" else plans("dsprites", SHORT, SEEDS)


def plans(data: str, steps: int, seeds: int) -> list[Plan]:
    """The same for other data and other budgets."""
    return plans_of(data, steps, seeds, methods=shortened(data, steps) | of_intervention(VARIANTS))
