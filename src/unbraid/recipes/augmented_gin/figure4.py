"""The spectrum of digits before and after training, with a knee near 20 dimensions.

Self-supervised Disentangled Representation Learning, 2021, App. C and Fig. 4. The runs are those of `figure2` without
supervised GIN. `python benchmarks/augmented_gin.py STUDY --out FOLDER` draws both spectra.
"""

from unbraid.recipes.augmented_gin.figure2 import augmented_runs, on_both_splits
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")
PUBLISHED = {("augmented-gin", "codes:spectrum"): 20.0}  # "nearly 20 latent variables", Sec. 4.3


def runs(scale: str) -> list[Plan]:
    """Augmented GIN on digits."""
    return on_both_splits(augmented_runs(scale))
