"""Table 2 on rooms shortened to three seeds of 5,000 steps, with a variant and the sequential intervention
autoencoder.

Unsupervised Disentanglement Learning by Intervention, 2021, whose numbers are for 3D Shapes and ten seeds. β-TCVAE,
whose batches have 2,048 images, is trained for 1,250 steps. `quick` is the quick Table 2.
"""

from unbraid.recipes.intervention import SHORT, SHORT_SEEDS, short_table1, table2, unpublished
from unbraid.studies import Plan

STEPS = SHORT["rooms"]
PUBLISHED = table2.PUBLISHED | unpublished(short_table1.variants(STEPS))


def runs(scale: str) -> list[Plan]:
    """Five methods and five variants on both distributions."""
    return table2.runs(scale) if scale == "quick" else short_table1.plans("rooms", STEPS, SHORT_SEEDS)
