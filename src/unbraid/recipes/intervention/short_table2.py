"""Table 2 on rooms shortened to three seeds of 5,000 steps, with variants of the intervention autoencoder.

Unsupervised Disentanglement Learning by Intervention, 2021, whose numbers are of 3D Shapes, ten seeds. β-TCVAE, whose
batches are of 2,048 images, has 1,250 steps. `quick` is the quick Table 2.
"""

from unbraid.plan import Plan
from unbraid.recipes.intervention import SEEDS, SHORT, short_table1, table2, unpublished

STEPS = SHORT["rooms"]
PUBLISHED = table2.PUBLISHED | unpublished(short_table1.variants(STEPS))


def runs(scale: str) -> list[Plan]:
    """Five methods and five variants on both laws."""
    return table2.runs(scale) if scale == "quick" else short_table1.plans("rooms", STEPS, SEEDS)
